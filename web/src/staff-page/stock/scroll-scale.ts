/**
 * Browsers cap the height of what can be scrolled, at 33 million pixels or fewer, and at less where the page is zoomed.
 * Far below that nobody notices a difference.
 */
export const MAX_HEIGHT_PX = 1_000_000
/** Within a stretch of this length scrolling is exact; the browser's own place is set anew from one to the next. */
const STRETCH_PX = MAX_HEIGHT_PX / 8

/** Where the browser has scrolled to, and how far the rows are ahead of that. */
export interface ScrollPlace {
  readonly scrollTop: number
  readonly shift: number
}

/**
 * Maps rows that are `total` pixels high together to what the browser scrolls, of which `room` pixels are in sight.
 * Small steps, as of a wheel, are as long as they are anywhere; large ones, as of the scroll bar, go as far through
 * the rows as through the bar. Both ends are where they seem to be.
 */
export class ScrollScale {
  /** Of what the browser scrolls. */
  readonly height: number
  readonly #room: number
  /** How far down the rows can be gone, and how far down the browser can. */
  readonly #reach: number
  readonly #browserReach: number
  readonly #stretches: number

  constructor(total: number, room: number) {
    this.height = Math.min(total, MAX_HEIGHT_PX)
    this.#room = room
    this.#reach = Math.max(0, total - room)
    this.#browserReach = Math.max(0, this.height - room)
    // The last of them takes what is left, so that none goes beyond the end.
    this.#stretches = total > this.height ? Math.max(2, Math.floor(this.#reach / STRETCH_PX)) : 1
  }

  /** Where the browser has to scroll to, so that what is `top` pixels down the rows is uppermost. */
  placeOf(top: number): ScrollPlace {
    const reachable = Math.max(0, Math.min(top, this.#reach))
    const shift = this.#shiftAt(reachable)
    return { scrollTop: reachable - shift, shift }
  }

  /** Where the rows are once the browser has scrolled on; it may have to be told of another place. */
  follow({ scrollTop: before, shift }: ScrollPlace, scrollTop: number): ScrollPlace {
    if (this.#stretches === 1) return { scrollTop, shift: 0 }
    if (Math.abs(scrollTop - before) <= this.#room) return this.placeOf(scrollTop + shift)
    const share = scrollTop / Math.max(1, this.#browserReach)
    return { scrollTop, shift: this.#shiftAt(share * this.#reach) }
  }

  #shiftAt(top: number): number {
    if (this.#stretches === 1) return 0
    const stretch = Math.max(0, Math.min(this.#stretches - 1, Math.floor(top / STRETCH_PX)))
    return Math.round((stretch * (this.#reach - this.#browserReach)) / (this.#stretches - 1))
  }
}
