import { useContract } from '../contract-context.tsx'
import { Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'
import { WindowsDrawing } from './windows-drawing.tsx'

export const limitsGuide: Guide = {
  id: 'limits',
  title: 'Limits',
  summary: 'How much each plan allows, how to see what is left, and what to do when it is used up.',
  keywords: 'rate limit plan quota 429 retry-after ban x-ratelimit header window minute day back off',
  Body,
}

const REFUSAL = `HTTP/1.1 429 Too Many Requests
X-RateLimit-Limit: 60
X-RateLimit-Remaining: 0
X-RateLimit-Reset: 1794744060
Retry-After: 17`

function Body() {
  const contract = useContract()
  const { ban } = contract
  return (
    <>
      <Heading>What a plan allows</Heading>
      <PlanTable />
      <Heading>Two windows</Heading>
      <p>
        Each key has two windows, one of a minute and one of a day. A window begins with the first request in
        it. When its time is over, the next request begins a new one. A request counts in both, whatever its
        answer is; a request that is refused with 429 counts in neither. An event stream counts as one
        request, however long it lasts.
      </p>
      <WindowsDrawing />
      <Heading>What is left</Heading>
      <p>Every answer carries three headers. They tell about the window with the fewest requests left.</p>
      <table className="table prose__table">
        <thead>
          <tr>
            <th scope="col">Header</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {limitHeaderFacts(contract).map(({ name, description }) => (
            <tr key={name}>
              <td>
                <code>{name}</code>
              </td>
              <td>{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {contract.operation('getLimits') !== undefined && (
        <Paragraph text="To see both windows at once, ask `GET /limits`. That request is free, and is answered even when the limit is exceeded. See [its reference](#/operations/getLimits)." />
      )}
      <Heading>When it is used up</Heading>
      <p>
        The answer is 429 with the code <code>rate_limit_exceeded</code>. <code>Retry-After</code> says how
        many seconds to wait.
      </p>
      <CodeBlock title="Over the limit" language="http" code={REFUSAL} />
      <ol className="steps">
        <li>Stop sending with this key, all of your programs.</li>
        <li>
          Wait as long as <code>Retry-After</code> says.
        </li>
        <li>Try again; if it is refused once more, double the wait each time, with some randomness in it.</li>
      </ol>
      <p>
        Our <a href="#/guides/typescript-client">TypeScript client</a> does all of this by itself, and with{' '}
        <code>pace: true</code> it does not run into the limit in the first place.
      </p>
      <Heading>Bans</Heading>
      <p>
        Who goes on regardless is banned: as many refused requests within one window as the plan allows in a
        minute bring a ban of {minutes(ban.firstSeconds)}. Each further one lasts twice as long as the one
        before, up to {minutes(ban.longestSeconds)}; after a day without a ban they are forgotten. Meanwhile
        every answer is 429 with the code <code>key_banned</code>, and <code>Retry-After</code> says when the
        ban ends. Whoever runs the service can lift it.
      </p>
      <Heading>Without a valid key</Heading>
      <p>
        Requests without a valid key are answered with 401 and counted by the address that they come from.
        Whoever runs the service sets how many a minute; it is 300 unless they do. Past that they are 429.
        There is no ban, since an address can stand for a whole office.
      </p>
    </>
  )
}

function PlanTable() {
  const { plans } = useContract()
  return (
    <table className="table prose__table">
      <thead>
        <tr>
          <th scope="col">Plan</th>
          <th scope="col" className="table__number">
            A minute
          </th>
          <th scope="col" className="table__number">
            A day
          </th>
        </tr>
      </thead>
      <tbody>
        {[...plans].map(([name, limits]) => (
          <tr key={name}>
            <th scope="row" className="plan-name">
              {name}
            </th>
            <td className="table__number">{limits?.perMinute.toLocaleString('en-US') ?? 'as agreed'}</td>
            <td className="table__number">{limits?.perDay.toLocaleString('en-US') ?? 'as agreed'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function limitHeaderFacts({ operations }: ReturnType<typeof useContract>) {
  const [first] = operations[0]?.answers ?? []
  return first?.headers.filter(({ name }) => name.startsWith('X-RateLimit-')) ?? []
}

function minutes(seconds: number): string {
  return `${seconds / 60} minutes`
}
