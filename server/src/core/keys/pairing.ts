import { MINUTE } from '../values/clock.ts'
import { hashSecret, randomText } from './api-key.ts'

/** Crockford's base32: no I, L, O or U, which are easily misread. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE_LENGTH = 8
const CODE = new RegExp(`^[${ALPHABET}]{${CODE_LENGTH}}$`)

export const PAIRING_CODE_MINUTES = 10
/** The maximum number of secrets of a key. Pairing deletes the oldest secrets beyond it. */
export const MAX_SECRETS = 10

/** A pairing code as it is stored. The code itself is displayed once. */
export interface StoredPairingCode {
  readonly hash: string
  readonly expiresAt: number
}

/** 40 random bits. */
export function createPairingCode(): string {
  return randomText(ALPHABET, CODE_LENGTH)
}

export function toStoredPairingCode(code: string, now: number): StoredPairingCode {
  return { hash: hashSecret(code), expiresAt: now + PAIRING_CODE_MINUTES * MINUTE }
}

/** `ABCD-EFGH`, which is easier to read and to type. */
export function formatPairingCode(code: string): string {
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

/** The hash of a code as people type it: with blanks and dashes, O for 0, I or L for 1. `undefined` if it is not a code. */
export function hashTypedCode(text: string): string | undefined {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return CODE.test(code) ? hashSecret(code) : undefined
}
