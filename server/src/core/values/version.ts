import { version } from '../../../../package.json' with { type: 'json' }

/** The version of the program. The version of the API is in the contract. */
export const VERSION: string = version
