/** Files other than TypeScript that the bundler can import. */
declare module '*.css'
declare module '*.svg' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: the bundler exports the address of a file as default
  export default address
}
