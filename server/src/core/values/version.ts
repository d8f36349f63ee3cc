/** The version of the program. The contract has the version of the API. */
export const VERSION = '1.0.0'
