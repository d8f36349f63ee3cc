export interface Order {
  readonly id: bigint
  readonly petId: bigint
  readonly quantity: number
  /** Milliseconds since the Unix epoch. */
  readonly shipDate: number
  readonly complete: boolean
}
