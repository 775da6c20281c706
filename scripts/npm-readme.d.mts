/** Returns the text with absolute links into a repository, at a tag. */
export declare function withAbsoluteLinks(text: string, repository: string, tag: string): string;
