/** The version of the program. The version of the API is in the contract. */
export const VERSION = '1.0.0'
