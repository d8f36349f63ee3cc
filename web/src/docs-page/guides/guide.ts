import type { ComponentType } from 'react'

/** A text beside the reference. What it says about this service it takes from the contract, where that knows it. */
export interface Guide {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** What a reader may search for. */
  readonly keywords: string
  readonly Body: ComponentType
}
