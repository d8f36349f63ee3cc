/** The path of the file, since it is imported as one. */
declare const path: string
export default path
