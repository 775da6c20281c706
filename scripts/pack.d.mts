export function pack(data: Uint8Array): string;
