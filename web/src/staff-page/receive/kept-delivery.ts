import { type KeptWork, keptCount, keptFields, keptId, keptRows } from '../data/kept-work.ts'

/** How many of a pet have come. */
export interface DeliveryLine {
  readonly petId: bigint
  readonly amount: number
}

/** By what the service knows a delivery that was sent, and since when. */
export interface SentAs {
  readonly idempotencyKey: string
  readonly madeAt: number
}

/** A delivery as the browser keeps it. */
export interface KeptDelivery {
  /** The latest pet first. */
  readonly lines: readonly DeliveryLine[]
  readonly reference: string
  /** From before it is sent until an answer has come: the lines must stay as they were sent. */
  readonly sent: SentAs | undefined
}

export const NO_DELIVERY: KeptDelivery = { lines: [], reference: '', sent: undefined }

const PART = 'delivery'

export function readDelivery(kept: KeptWork): KeptDelivery {
  const { lines, reference, sent } = keptFields(kept.read(PART))
  const { idempotencyKey, madeAt } = keptFields(sent)
  const isSent = typeof idempotencyKey === 'string' && typeof madeAt === 'number'
  return {
    lines: keptRows(lines).flatMap(([id, kept]) => {
      const [petId, amount] = [keptId(id), keptCount(kept)]
      return petId === undefined || amount === undefined ? [] : [{ petId, amount }]
    }),
    reference: typeof reference === 'string' ? reference : '',
    sent: isSent ? { idempotencyKey, madeAt } : undefined,
  }
}

/** False where the browser has no room for it. */
export function writeDelivery(kept: KeptWork, { lines, reference, sent }: KeptDelivery): boolean {
  const isEmpty = lines.length === 0 && reference === ''
  const value = { lines: lines.map(({ petId, amount }) => [String(petId), amount]), reference, sent }
  return kept.write(PART, isEmpty ? undefined : value)
}
