import { InlineText, Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeBlock } from '../samples/code-block.tsx'
import { type CodeSample, CodeTabs } from '../samples/code-tabs.tsx'
import type { Guide } from './guide.ts'

export const idsGuide: Guide = {
  id: 'ids-and-json',
  title: 'Ids and JSON',
  summary: 'Ids have up to 19 digits, and many JSON parsers round them. How to keep them whole.',
  keywords: 'int64 bigint id precision 2^53 json parse number rounding quantity media type',
  Body,
}

const ROUNDED = `const text = '{"petId":9007199254740993}'
JSON.parse(text).petId // 9007199254740992: another pet`

/** Each keeps the id whole. */
export const EXACT: readonly CodeSample[] = [
  {
    ...({ id: 'client', title: 'TypeScript client', language: 'typescript' } as const),
    code: `const item = await client.inventory.get('9007199254740993')
item.petId // 9007199254740993n, a bigint; a string with the option ids: 'string'`,
  },
  {
    ...({ id: 'python', title: 'Python', language: 'python' } as const),
    code: `import json

item = json.loads('{"petId":9007199254740993}')
print(item['petId'])  # 9007199254740993, as it came`,
  },
]

function Body() {
  return (
    <>
      <Heading>Ids are int64</Heading>
      <p>
        On the wire an id is a JSON number in plain digits, from −9223372036854775808 to 9223372036854775807.
        A number of JavaScript is exact up to 9007199254740991 (2<sup>53</sup> − 1) only. Beyond that,{' '}
        <code>JSON.parse</code> rounds without a word:
      </p>
      <CodeBlock title="How an id goes wrong" language="typescript" code={ROUNDED} />
      <p>Read answers with something that keeps them whole:</p>
      <ul className="bullets">
        <li>
          In TypeScript, our <a href="#/guides/typescript-client">client</a>: it returns ids as{' '}
          <code>bigint</code> or as strings.
        </li>
        <li>
          In languages with 64-bit integers, a field of such a type: <code>int64</code> in Go,{' '}
          <code>long</code> in Java and C#, <code>i64</code> in Rust. Python’s integers have no limit.
        </li>
        <li>Never a floating-point number, and no column of a spreadsheet that takes it for one.</li>
      </ul>
      <CodeTabs label="Samples that keep every digit" samples={EXACT} />
      <p>This page shows answers as they came, digit for digit.</p>
      <Heading>Quantities are safe</Heading>
      <Paragraph
        text={
          'A `quantity` is an integer from 0 to 9007199254740991, which every parser keeps. It is taken as it is: `5` and `5.0` are the integer 5, while `"5"`, `true`, `null` and `1.5` are answered with 400.'
        }
      />
      <Heading>Bodies</Heading>
      <ul className="bullets">
        <li>
          Requests are JSON in UTF-8 with <code>Content-Type: application/json</code>, not compressed.
        </li>
        <li>
          <InlineText text="Unknown fields and query parameters are answered with 400, which suggests the closest known name. GET /inventory, PATCH /inventory/{petId}, GET /pets/{petId} and GET /store/orders ignore them." />
        </li>
        <li>
          Times are in UTC, such as <code>2026-11-15T12:00:00.000Z</code>.
        </li>
      </ul>
    </>
  )
}
