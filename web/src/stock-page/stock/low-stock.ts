import { Observable, type Readable, useReadable } from './observable.ts'

const STORED_AS = 'petstore.low-stock-threshold'
const USUAL = 5

const threshold = new Observable(read())

/** At this quantity or below it the stock is low; the table and the overview share it. */
export const lowStockThreshold: Readable<number> = threshold

export function useLowStockThreshold(): number {
  return useReadable(threshold)
}

/** Whole and not negative; anything else is left as it was. Kept on this machine. */
export function setLowStockThreshold(value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) return
  localStorage.setItem(STORED_AS, String(value))
  threshold.set(value)
}

function read(): number {
  const stored = localStorage.getItem(STORED_AS)
  const value = stored === null || !/^\d+$/.test(stored) ? Number.NaN : Number(stored)
  return Number.isSafeInteger(value) ? value : USUAL
}
