const ADDRESS_WITH_PASSWORD = /\bpostgres(?:ql)?:\/\/[^\s/@:]*:[^\s@]+@|[?&]password=/i

/** What to tell an operator who gives a password as an argument; `undefined` where there is none. */
export function passwordInArguments(args: readonly string[]): string | undefined {
  return args.some((argument) => ADDRESS_WITH_PASSWORD.test(argument))
    ? 'everybody on this machine can read the password in the arguments; give the address in DATABASE_URL instead'
    : undefined
}
