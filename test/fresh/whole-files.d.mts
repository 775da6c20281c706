export function findWholeFiles(): string[];
