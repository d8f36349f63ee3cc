const REQUESTS = [20, 34, 39, 56, 72, 152, 164, 176, 276, 284, 292, 300, 308]
const REFUSED = [320, 331]
const MINUTES = [20, 152, 276]
const MINUTE_WIDTH = 92

/** Requests on a line of time, and the windows that they open. */
export function WindowsDrawing() {
  return (
    <figure className="drawing">
      <svg viewBox="0 0 400 158" role="img" aria-labelledby="windows-title windows-text">
        <title id="windows-title">The windows of a key</title>
        <desc id="windows-text">
          Requests on a line of time. The first one opens the window of the day and a window of a minute.
          After a pause the next request opens another window of a minute, while that of the day goes on. In
          the third minute so many arrive that two are refused.
        </desc>
        <g className="drawing__window drawing__window--day">
          <path d="M400 10 H26 a6 6 0 0 0 -6 6 v16 a6 6 0 0 0 6 6 H400" />
          <text x="30" y="29">
            the day, from the first request on
          </text>
        </g>
        {MINUTES.map((from) => (
          <g key={from} className="drawing__window">
            <rect x={from} y="50" width={MINUTE_WIDTH} height="28" rx="6" />
            <text x={from + 10} y="69">
              a minute
            </text>
          </g>
        ))}
        <line className="drawing__line" x1="4" y1="108" x2="396" y2="108" />
        {REQUESTS.map((x) => (
          <line key={x} className="drawing__request" x1={x} y1="96" x2={x} y2="120" />
        ))}
        {REFUSED.map((x) => (
          <path key={x} className="drawing__refused" d={`M${x - 4} 102 l8 12 m0 -12 l-8 12`} />
        ))}
        <text className="drawing__label" x="20" y="146">
          each stroke is a request
        </text>
        <text className="drawing__label drawing__label--refused" x="396" y="146" textAnchor="end">
          refused: 429
        </text>
      </svg>
      <figcaption>
        A window of a minute opens with a request, not with the clock. The day’s window goes on across all of
        them.
      </figcaption>
    </figure>
  )
}
