/** Behind standard input, output and error: sd_listen_fds(3). */
const FIRST_PASSED = 3

/**
 * The socket that systemd listens on for this process, where it passes one. Connections wait in it while the service
 * restarts, instead of being refused.
 */
export function passedSocket(
  environment: Readonly<Record<string, string | undefined>> = Bun.env,
): number | undefined {
  const { LISTEN_PID, LISTEN_FDS } = environment
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(process.pid)) return undefined
  if (LISTEN_FDS !== '1') {
    throw new Error(
      `systemd passes ${LISTEN_FDS} sockets, and the service takes one: leave one ListenStream in its socket unit`,
    )
  }
  return FIRST_PASSED
}
