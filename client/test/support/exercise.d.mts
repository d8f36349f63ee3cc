export declare const EXPECTED: Readonly<Record<string, unknown>>
