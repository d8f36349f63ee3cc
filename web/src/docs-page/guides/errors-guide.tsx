import type { ErrorCodeFacts } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading, usePart } from '../page-parts.tsx'
import { href } from '../page-route.ts'
import { StatusTag } from '../reference/status-tag.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import type { Guide } from './guide.ts'

export const errorsGuide: Guide = {
  id: 'errors',
  title: 'Errors',
  summary: 'The one shape of every error, all codes, and which of them are worth another try.',
  keywords:
    'error code message status 400 401 403 404 405 408 409 410 412 413 422 429 500 503 request id retry',
  Body,
}

/** By code; the contract says when it happens, this is what a program does about it. */
export const WHAT_TO_DO: Readonly<Record<string, string>> = {
  invalid_request: 'Correct the request; the message says which part of it.',
  unauthorized: 'Send a valid key. Sending the same one again does not help.',
  forbidden:
    'Use a key with the permission that the message names. `GET /limits` tells what a key may change.',
  not_found: 'Check the id and the path.',
  method_not_allowed: 'Use a method that the `Allow` header names.',
  request_timeout: 'Send the whole request at once, over a new connection.',
  gone: 'Move to the operation that takes its place.',
  insufficient_stock: 'Take less, or wait for more; `details` names every pet and how many there are.',
  order_closed: 'Order again where its hold ran out; `details` says what it is.',
  in_use:
    'Complete or cancel the open orders of the pet, or give the pets another category; then remove it. With webhooks: remove one first.',
  already_exists: 'Use what is there, or another id or barcode; the message says who has it.',
  precondition_failed: 'Read the entry again, decide, and send its new ETag or quantity.',
  payload_too_large: 'Send a smaller body.',
  idempotency_key_reused: 'Use a key of its own for each change; repeat it with the same request alone.',
  rate_limit_exceeded: 'Wait for `Retry-After`, then try again.',
  key_banned: 'Wait for `Retry-After`, and send less from then on.',
  internal_error: 'Try again once; then report it with its request id.',
  service_unavailable: 'Wait for `Retry-After`, then try again.',
}

/** What the service answers to `{"quantity": "5"}`. */
export const ERROR_EXAMPLE =
  '{"code":"invalid_request","message":"quantity must be an integer from 0 to 9007199254740991, got \\"5\\" (a string)","status":400,"field":"quantity"}'

function Body() {
  const { errorCodes } = useContract()
  return (
    <>
      <p>
        Every answer from 400 up has the same body, an{' '}
        <a href={href({ page: 'schema', id: 'Error' })}>Error</a>. Let programs decide by <code>code</code>:
        codes are never renamed. The <code>message</code> is for people, says what is wrong and what to do,
        and may change. If one field is wrong, <code>field</code> names it.
      </p>
      <CodeBlock title="An error" language="json" code={ERROR_EXAMPLE} />
      <Heading>All codes</Heading>
      <table className="table table--stacking prose__table">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Code</th>
            <th scope="col">When</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {errorCodes.map((facts) => (
            <CodeRow key={facts.code} {...facts} />
          ))}
        </tbody>
      </table>
      <Heading>What is checked first</Heading>
      <p>
        The key (401), then its limit (429), whether the key may do it (403), then the request (400), then
        whether the entry is there (404), has enough, is still open or is free (409) and is in the state that
        was named (412). So a wrong key learns nothing about what exists.
      </p>
      <Heading>Several at once</Heading>
      <Paragraph text="Where a request has several changes, `details` beside those fields lists every one that cannot be made; the rest of the body tells of the first. See [Change stock safely](#/guides/change-stock-safely). An order that is refused has one there as well, with what is left: see [Never oversell](#/guides/never-oversell)." />
      <Heading>When you ask for help</Heading>
      <p>
        Every answer has an <code>X-Request-Id</code>. It names the request in the logs of the service; give
        it along when you report a problem. Send a header of that name yourself, and it is taken over.
      </p>
    </>
  )
}

function CodeRow({ code, status, description }: ErrorCodeFacts) {
  return (
    <tr {...usePart(code)}>
      <td>
        <StatusTag status={status} />
      </td>
      <td>
        <code>{code}</code>
      </td>
      <td>
        <InlineText text={description} />
      </td>
      <td>
        <InlineText text={WHAT_TO_DO[code] ?? ''} />
      </td>
    </tr>
  )
}
