/** The version of the program; the version of the interface is in the contract. */
export const VERSION = '1.0.0'
