/** Files other than TypeScript that the bundler can import. */
declare module '*.css'
