interface Request {
  readonly by: 'Ann' | 'Ben'
  readonly text: string
  readonly isRefused?: true
}

interface Way {
  readonly name: string
  readonly note: string
  /** One after the other. */
  readonly requests: readonly Request[]
  readonly left: number
  readonly isWrong?: true
}

const WAYS: readonly Way[] = [
  {
    ...{ name: 'Set', note: 'the last one wins', left: 11, isWrong: true },
    requests: [
      { by: 'Ann', text: 'set 11' },
      { by: 'Ben', text: 'set 11' },
    ],
  },
  {
    ...{ name: 'Set if unchanged', note: 'the second is told, and decides again', left: 10 },
    requests: [
      { by: 'Ann', text: '11 if 12' },
      { by: 'Ben', text: '11 if 12', isRefused: true },
      { by: 'Ben', text: '10 if 11' },
    ],
  },
  {
    ...{ name: 'Adjust', note: 'both count, a request each', left: 10 },
    requests: [
      { by: 'Ann', text: '−1' },
      { by: 'Ben', text: '−1' },
    ],
  },
]

const WAY_HEIGHT = 104
const FIRST_X = 42
const STEP = 90
const PILL = { width: 82, height: 26 }
const LEFT_X = 318

/** Two people who sell one each at the same moment, in each of the three ways. */
export function ThreeWaysDrawing() {
  return (
    <figure className="drawing">
      <svg viewBox={`0 0 400 ${WAYS.length * WAY_HEIGHT}`} role="img" aria-labelledby="ways-title ways-text">
        <title id="ways-title">Three ways to change the stock</title>
        <desc id="ways-text">
          There are 12, and Ann and Ben sell one each at the same moment. With set, both set 11, and 11 are
          left where there should be 10. With set if unchanged, Ben’s 11 is refused with 412, since there are
          not 12 any more; he reads again and sets 10. With adjust, both take one away, and 10 are left.
        </desc>
        {WAYS.map((way, index) => (
          <g key={way.name} transform={`translate(0 ${index * WAY_HEIGHT})`}>
            <WayDrawing way={way} />
          </g>
        ))}
      </svg>
      <figcaption>
        There are 12, and Ann and Ben sell one each at the same moment: 10 should be left.
      </figcaption>
    </figure>
  )
}

function WayDrawing({ way: { name, note, requests, left, isWrong } }: { readonly way: Way }) {
  const rows = { Ann: 28, Ben: 60 }
  return (
    <>
      <text x="0" y="16">
        <tspan className="drawing__name">{name}</tspan>
        <tspan dx="8">{note}</tspan>
      </text>
      {Object.entries(rows).map(([who, y]) => (
        <g key={who}>
          <text x="0" y={y + 18}>
            {who}
          </text>
          <line className="drawing__line" x1={FIRST_X} y1={y + 13} x2={LEFT_X - 8} y2={y + 13} />
        </g>
      ))}
      {requests.map(({ by, text, isRefused }, index) => (
        <g
          key={index}
          className={isRefused ? 'drawing__window drawing__window--refused' : 'drawing__window'}
          transform={`translate(${FIRST_X + index * STEP} ${rows[by]})`}
        >
          <rect {...PILL} rx="6" />
          <text x={PILL.width / 2} y="18" textAnchor="middle">
            {text}
          </text>
          {isRefused && (
            <text x={PILL.width / 2} y="-4" textAnchor="middle">
              refused: 412
            </text>
          )}
        </g>
      ))}
      <g
        className={isWrong ? 'drawing__left drawing__left--wrong' : 'drawing__left'}
        transform={`translate(${LEFT_X} 28)`}
      >
        <rect x="0.5" y="0.5" width="80" height="57" rx="6" />
        <text x="40.5" y="28" textAnchor="middle" className="drawing__count">
          {left}
        </text>
        <text x="40.5" y="46" textAnchor="middle">
          {isWrong ? 'one is lost' : 'are left'}
        </text>
      </g>
    </>
  )
}
