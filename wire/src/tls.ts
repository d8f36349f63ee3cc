import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

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
  if (!certificateOf(cert, certPath, flags.cert).checkPrivateKey(privateKeyOf(key, keyPath, flags.key))) {
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

function certificateOf(text: string, path: string, flag: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch (error) {
    throw new Error(`${path} contains no certificate in PEM format; check ${flag}`, { cause: error })
  }
}

function privateKeyOf(text: string, path: string, flag: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new Error(`${path} contains no private key in PEM format without a passphrase; check ${flag}`, {
      cause: error,
    })
  }
}
