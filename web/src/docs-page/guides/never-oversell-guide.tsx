import { baseUrlOf, useContract } from '../contract-context.tsx'
import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { CodeTabs } from '../samples/code-tabs.tsx'
import type { Guide } from './guide.ts'
import { LastOneDrawing } from './last-one-drawing.tsx'
import { neverOversellSamples } from './never-oversell-samples.ts'

export const neverOversellGuide: Guide = {
  id: 'never-oversell',
  title: 'Never oversell',
  summary: 'Reserve with an order, hold it while the customer pays, and know what to do about a 409.',
  keywords:
    'order orders oversell reserve reserved reservation hold holdseconds expire expired available availability checkout cart basket complete cancel 409 insufficient_stock order_closed idempotency-key last one',
  Body,
}

/** What the service answers to an order of 1 when all that there are of pet 1 are reserved. */
export const NONE_LEFT =
  '{"code":"insufficient_stock","message":"0 of petId 1 are available, so 1 cannot be ordered; nothing was changed","status":409,"details":[{"index":0,"petId":1,"code":"insufficient_stock","message":"0 of petId 1 are available, so 1 cannot be ordered","available":0}]}'

/** What happens to an order, and what that does to the pet. */
const STATES = [
  ['You order', 'open', 'stays', 'one more'],
  ['You complete it', 'complete', 'one less', 'one less'],
  ['You cancel it', 'cancelled', 'stays', 'one less'],
  ['Its hold runs out', 'expired', 'stays', 'one less'],
] as const

function Body() {
  const samples = neverOversellSamples(baseUrlOf(useContract()))
  return (
    <>
      <LastOneDrawing />
      <Paragraph text="An order reserves what it takes, and it is decided in the commit that makes it: of any number of callers who want the last one, on any number of instances, one gets it. So do not look first whether enough is there. Order, and see what you get." />
      <table className="table table--stacking prose__table">
        <thead>
          <tr>
            <th scope="col">What happens</th>
            <th scope="col">The order is</th>
            <th scope="col">On the shelf</th>
            <th scope="col">Reserved</th>
          </tr>
        </thead>
        <tbody>
          {STATES.map(([what, state, shelf, reserved]) => (
            <tr key={state}>
              <td>{what}</td>
              <td>
                <code>{state}</code>
              </td>
              <td>{shelf}</td>
              <td>{reserved}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Paragraph text="What can still be ordered is what is on the shelf (`quantity`) less what is reserved: GET /inventory/{petId}/availability shows all three. It is for showing; what it says may be over the moment you read it." />
      <Heading>Hold it while the customer pays</Heading>
      <Paragraph text="With `holdSeconds`, from a second to 30 days, the order ends by itself when nobody completes it: a customer who closes the browser blocks nothing. Without it, an order reserves until you complete or cancel it." />
      <CodeTabs label="Samples of a hold" samples={samples.hold} />
      <Heading>Complete it</Heading>
      <Paragraph text="Once it is paid for: PATCH /store/orders/{orderId} takes it out of the stock. The history of the pet says `sold`, with the number of the order. Completing it again changes nothing." />
      <CodeTabs label="Samples of completing an order" samples={samples.complete} />
      <Heading>Or cancel it</Heading>
      <Paragraph text="DELETE /store/orders/{orderId} gives back at once what it reserved. Cancelling it again changes nothing either." />
      <CodeTabs label="Samples of cancelling an order" samples={samples.cancel} />
      <Heading>What a 409 means</Heading>
      <Paragraph text="Somebody was faster, or you were too late. Nothing was changed, and sending the same again does not help by itself." />
      <CodeBlock title="The last one is reserved" language="json" code={NONE_LEFT} />
      <ul className="bullets">
        <li>
          <InlineText text="`insufficient_stock`: `details` says in `available` how many there were in that very moment. Offer so many, or wait: a hold of somebody else may run out. When you complete an order, it means that the shelf was set below what the order takes: have somebody count." />
        </li>
        <li>
          <InlineText text="`order_closed`: the order is not open any more, and `details` says in `state` what it is. `expired`: the hold ran out; order again. `cancelled`: somebody cancelled it, so ask before you order again. `complete`: it is sold and cannot be cancelled; take it back with an [adjustment](#/guides/change-stock-safely) and the reason `returned`." />
        </li>
      </ul>
      <CodeTabs label="Samples of an order that is refused" samples={samples.conflict} />
      <Heading>When the hold runs out</Heading>
      <Paragraph text="From the second on that `expiresAt` names, by the clock of the store, it reserves nothing, on every instance, and the next one who orders gets it. Completing it is 409 from then on, so take the money only after you have completed it, or hold for longer than paying takes." />
      <Heading>Send it again without ordering twice</Heading>
      <Paragraph text="No answer, or a 5xx? The order may have been made. Choose an `Idempotency-Key` for each order, such as the number of the checkout, and send the very same request with it again: it is made once and answered as the first time. That holds for completing and cancelling too. A 409 is remembered as well, so ordering again after one needs a new key. [Change stock safely](#/guides/change-stock-safely) tells all of it." />
      <CodeTabs label="Samples of an order that is repeated safely" samples={samples.repeat} />
      <Heading>Good to know</Heading>
      <ul className="bullets">
        <li>
          <InlineText text="Setting or adjusting the stock is about the shelf and does not ask what is reserved. Where it goes below that, `available` is negative, and nobody can order until it is made good. So sell by orders alone, where customers order." />
        </li>
        <li>
          <InlineText text="GET /store/orders lists open and complete orders, or those of one `state` or `petId`, page by page." />
        </li>
        <li>
          <InlineText text="[Events](#/guides/events) of the kind `order` tell when one is made, completed, cancelled or has expired." />
        </li>
      </ul>
    </>
  )
}
