import { createPrivateKey, X509Certificate } from 'node:crypto'

/** Certificate and private key as PEM text. */
export interface Tls {
  readonly cert: string
  readonly key: string
}

/** Reads both files and checks that they belong together. `flags` names the settings, for error messages. */
export async function readTls(
  certPath: string,
  keyPath: string,
  flags: { readonly cert: string; readonly key: string },
): Promise<Tls> {
  const cert = await read(certPath, flags.cert)
  const key = await read(keyPath, flags.key)
  const certificate = parse(
    () => new X509Certificate(cert),
    `${certPath} contains no certificate in PEM format; check ${flags.cert}`,
  )
  const privateKey = parse(
    () => createPrivateKey(key),
    `${keyPath} contains no private key in PEM format, or the key has a passphrase; check ${flags.key}`,
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(
      `the private key in ${keyPath} does not belong to the certificate in ${certPath}; check ${flags.cert} and ${flags.key}`,
    )
  }
  return { cert, key }
}

async function read(path: string, flag: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw new Error(`cannot read ${path}${code}; check ${flag}`, { cause: error })
  }
}

function parse<Parsed>(parseText: () => Parsed, problem: string): Parsed {
  try {
    return parseText()
  } catch (error) {
    throw new Error(problem, { cause: error })
  }
}
