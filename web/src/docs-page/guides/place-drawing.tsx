type Look = 'taken' | 'failed' | 'waiting'

interface Moment {
  readonly y: number
  readonly note: string
  /** How many of the log are taken: there is the place. */
  readonly taken: number
  readonly failed?: true
}

/** What is in the log, by its pet. */
const LOG = ['pet 1', 'pet 2', 'pet 1', 'pet 3']

const MOMENTS: readonly Moment[] = [
  { y: 0, note: 'Two are taken: the place is behind them', taken: 2 },
  { y: 112, note: 'The receiver is down: the place stays', taken: 2, failed: true },
  { y: 224, note: 'It is back: nothing was lost', taken: 4 },
]

const BOX = { width: 76, height: 30 }
const STEP = 86
const LOOKS: Readonly<Record<Look, string>> = {
  taken: 'drawing__left',
  failed: 'drawing__left drawing__left--wrong',
  waiting: 'drawing__step',
}

/** The log from left to right, at three moments: how a place in it moves. */
export function PlaceDrawing() {
  return (
    <figure className="drawing drawing--tall">
      <svg viewBox="0 0 340 322" role="img" aria-labelledby="place-title place-text">
        <title id="place-title">A place in the log</title>
        <desc id="place-text">
          A log of four things that happened: to pet 1, pet 2, pet 1 again and pet 3. First, the receiver has
          taken two of them, and the place of the webhook is behind the second. Then the receiver is down: the
          third fails and is sent again and again, and the place stays where it is. When the receiver is back
          it takes the third and the fourth, and the place is at the end of the log.
        </desc>
        {MOMENTS.map(({ y, note, taken, failed }) => (
          <g key={y} transform={`translate(0 ${y})`}>
            <text className="drawing__name" x="0" y="14">
              {note}
            </text>
            {LOG.map((pet, index) => (
              <g
                key={index}
                className={LOOKS[index < taken ? 'taken' : failed && index === taken ? 'failed' : 'waiting']}
                transform={`translate(${index * STEP} 24)`}
              >
                <rect x="0.5" y="0.5" width={BOX.width - 1} height={BOX.height - 1} rx="6" />
                <text x={BOX.width / 2} y="20" textAnchor="middle">
                  {pet}
                </text>
              </g>
            ))}
            <Place x={taken * STEP - (STEP - BOX.width) / 2} isLast={taken === LOG.length} />
          </g>
        ))}
      </svg>
      <figcaption>
        Everything behind the place of a webhook was taken. What fails is sent again, and the place waits for
        it.
      </figcaption>
    </figure>
  )
}

function Place({ x, isLast }: { readonly x: number; readonly isLast: boolean }) {
  const at = isLast ? x - 4 : x
  return (
    <>
      <path className="drawing__arrow" d={`M${at} 78 V20`} />
      <text x={isLast ? 340 : at} y="92" textAnchor={isLast ? 'end' : 'middle'}>
        the place
      </text>
    </>
  )
}
