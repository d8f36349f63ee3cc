type Caller = 'Ann' | 'Ben'

interface Message {
  readonly y: number
  readonly by: Caller
  readonly text: string
  /** How it is answered; a request where nothing is given. */
  readonly answer?: 'made' | 'refused'
}

const MESSAGES: readonly Message[] = [
  { y: 68, by: 'Ann', text: 'order 1' },
  { y: 68, by: 'Ben', text: 'order 1' },
  { y: 112, by: 'Ann', text: '201', answer: 'made' },
  { y: 112, by: 'Ben', text: '409: 0 left', answer: 'refused' },
  { y: 268, by: 'Ben', text: 'order 1' },
  { y: 312, by: 'Ben', text: '201', answer: 'made' },
  { y: 356, by: 'Ann', text: 'complete' },
  { y: 400, by: 'Ann', text: '409: expired', answer: 'refused' },
]

/** Where it is decided, and how many can be ordered from then on. */
const COMMITS = [68, 268, 356]
const AVAILABLE = [
  { y: 24, count: 1 },
  { y: 112, count: 0 },
  { y: 224, count: 1 },
  { y: 312, count: 0 },
  { y: 400, count: 0 },
]

const HEIGHT = 440
const BOX = { width: 96, height: 28 }
const MIDDLE = BOX.width / 2
/** The left side of each lane. */
const LANES = { Ann: 0, stock: 122, Ben: 244 }
/** While Ann's order reserves. */
const HOLD = { from: 140, to: 238 }

/** Two callers and a pet of which one is left. Time goes down, so that a phone shows it as large as a desk. */
export function LastOneDrawing() {
  return (
    <figure className="drawing drawing--tall">
      <svg viewBox={`0 0 340 ${HEIGHT}`} role="img" aria-labelledby="last-title last-text">
        <title id="last-title">Two callers and the last one</title>
        <desc id="last-text">
          A line of time. One is available, and Ann and Ben order it at the same moment, Ann with a hold of 15
          minutes. The commit decides: Ann gets 201, none is available any more, and Ben gets 409. Ann does
          not pay. After 15 minutes her hold runs out, and one is available again. Ben orders once more and
          gets 201. When Ann completes her order after all, she gets 409, since it has expired.
        </desc>
        {Object.entries(LANES).map(([name, x]) => (
          <g key={name} transform={`translate(${x + MIDDLE} 0)`}>
            <text className="drawing__name" y="13" textAnchor="middle">
              {name === 'stock' ? 'Available' : name}
            </text>
            <line className="drawing__line" y1="24" y2={HEIGHT} />
          </g>
        ))}
        <g className="drawing__window" transform={`translate(${LANES.Ann} 0)`}>
          <rect x="3.5" y={HOLD.from} width={BOX.width - 7} height={HOLD.to - HOLD.from} rx="6" />
          <text x={MIDDLE} y="184" textAnchor="middle">
            held for
          </text>
          <text x={MIDDLE} y="201" textAnchor="middle">
            15 minutes
          </text>
        </g>
        <line
          className="drawing__line drawing__line--dashed"
          x1={BOX.width - 4}
          y1={HOLD.to}
          x2={LANES.stock}
          y2={HOLD.to}
        />
        {COMMITS.map((y) => (
          <Box key={y} look="drawing__step" x={LANES.stock} y={y} text="commit" />
        ))}
        {AVAILABLE.map(({ y, count }) => (
          <Box key={y} look={lookOf(count > 0)} x={LANES.stock} y={y} text={String(count)} />
        ))}
        {MESSAGES.map((message) => (
          <MessageDrawing key={`${message.by} ${message.y}`} {...message} />
        ))}
      </svg>
      <figcaption>
        One is left, and both order it at the same moment: the commit decides. What a hold reserves is free
        again from the second on at which it runs out.
      </figcaption>
    </figure>
  )
}

/** With an arrow to what decides, or from it. */
function MessageDrawing({ y, by, text, answer }: Message) {
  const outer = by === 'Ann' ? LANES.Ann + BOX.width : LANES.Ben
  const inner = by === 'Ann' ? LANES.stock : LANES.stock + BOX.width
  const [from, to] = answer === undefined ? [outer, inner] : [inner, outer]
  const back = Math.sign(from - to) * 6
  return (
    <>
      <path className="drawing__arrow" d={`M${from} ${y + 14} H${to} m${back} -4 l${-back} 4 l${back} 4`} />
      <Box
        look={answer === undefined ? 'drawing__window' : lookOf(answer === 'made')}
        {...{ x: LANES[by], y, text }}
      />
    </>
  )
}

interface BoxProps {
  readonly look: string
  readonly x: number
  readonly y: number
  readonly text: string
}

function Box({ look, x, y, text }: BoxProps) {
  return (
    <g className={look} transform={`translate(${x} ${y})`}>
      <rect x="0.5" y="0.5" width={BOX.width - 1} height={BOX.height - 1} rx="6" />
      <text x={MIDDLE} y="19" textAnchor="middle">
        {text}
      </text>
    </g>
  )
}

function lookOf(isGood: boolean): string {
  return isGood ? 'drawing__left' : 'drawing__left drawing__left--wrong'
}
