/** Returns the text with absolute links into a repository, at a tag. */
export declare function withAbsoluteLinks(
  text: string,
  repository: string,
  tag: string,
  page?: string,
  isPacked?: (path: string) => boolean,
): string;
/** Returns the links of a page. */
export declare function linksOf(text: string): string[];
/** Returns the links of a packed page that lead nowhere. */
export declare function deadLinks(
  text: string,
  place: {
    readonly repository: string;
    readonly tag: string;
    readonly page: string;
    readonly isPacked: (path: string) => boolean;
    readonly isTracked: (path: string) => boolean;
  },
): string[];
