import { hash } from 'node:crypto'
import { crc32 } from '../values/crc32.ts'
import type { Limits, Plan } from './plans.ts'

export type KeyEnvironment = 'production' | 'staging'

/** What is kept of a key. The secret itself is shown once and never stored. */
export interface ApiKey {
  /** Public: it stands in logs and in the history. */
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly limits: Limits
  /** May look, but change nothing. */
  readonly readOnly: boolean
  readonly createdAt: number
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** A secret as it is stored: found by its hash, recognised by people by its hint. */
export interface StoredSecret {
  readonly hash: string
  readonly hint: string
  readonly createdAt: number
  readonly expiresAt?: number
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX: Readonly<Record<KeyEnvironment, string>> = { production: 'pst_live_', staging: 'pst_test_' }
const SHAPE = /^(pst_(?:live|test)_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/

/** 30 random base62 characters (178 bits), then a checksum that tells a mistyped key without a look-up. */
export function createSecret(environment: KeyEnvironment): string {
  const body = PREFIX[environment] + randomBase62(30)
  return body + checksum(body)
}

export function isWellFormedSecret(secret: string): boolean {
  const [, body, sum] = SHAPE.exec(secret) ?? []
  return body !== undefined && checksum(body) === sum
}

/**
 * Keys are looked up by this hash. They are random enough for one round of SHA-256, and since the caller
 * cannot steer the hash, the time a look-up takes tells nothing about a stored key.
 */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Enough to recognise a secret by, and not to use it. */
export function maskSecret(secret: string): string {
  return `${secret.slice(0, 9)}…${secret.slice(-4)}`
}

/** As a caller may have put it somewhere: into a path, there perhaps percent-encoded, or into a name. */
const SECRET_IN_TEXT = /pst(?:_|%5f)(live|test)(?:_|%5f)[0-9A-Za-z]+/gi

/** The same text without the secrets in it, for logs and messages. */
export function hideSecrets(text: string): string {
  return text.replace(SECRET_IN_TEXT, 'pst_$1_[hidden]')
}

export function storedSecret(secret: string, createdAt: number): StoredSecret {
  return { hash: hashSecret(secret), hint: maskSecret(secret), createdAt }
}

export function createKeyId(): string {
  return `key_${randomBase62(16)}`
}

export function keyState(key: ApiKey, now: number): 'active' | 'expired' | 'revoked' {
  // Whatever the clock says: set back, it must not bring a key back to life.
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= now) return 'expired'
  return 'active'
}

function checksum(body: string): string {
  let rest = crc32(body)
  let digits = ''
  while (digits.length < 6) {
    digits = ALPHABET.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is the largest multiple of 62 in a byte: above it, some characters would be likelier.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62)
    }
  }
  return text
}
