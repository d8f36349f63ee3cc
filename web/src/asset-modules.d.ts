/** What the bundler understands beside TypeScript. */
declare module '*.css'
declare module '*.svg' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: the bundler exports the address of a file as default
  export default address
}
