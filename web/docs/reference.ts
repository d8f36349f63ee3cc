import { codeBlock, sampleTabs } from './code.ts'
import { nameOf, type Operation, type Schema } from './contract.ts'
import { type Html, html } from './html.ts'
import { samplesOf } from './samples.ts'
import { boundsOf, exampleOf, type Field, fieldsOf, typeText } from './schema-text.ts'
import { heading, recordAddress, type Site, table } from './site.ts'
import { tryIt } from './try-it.ts'

const METHOD_TONES: Readonly<Record<string, string>> = {
  POST: 'positive',
  PATCH: 'caution',
  DELETE: 'negative',
}

export function methodBadge(method: string): Html {
  return codeBadge(method, METHOD_TONES[method] ?? 'accent')
}

export function statusBadge(status: number): Html {
  const tones = ['neutral', 'neutral', 'positive', 'neutral', 'caution', 'negative']
  return codeBadge(status, tones[Math.floor(status / 100)] ?? 'neutral')
}

function codeBadge(text: string | number, tone: string): Html {
  return html`<span class="badge badge--plain badge--${tone} code-badge">${text}</span>`
}

const STABILITY_TONES = { stable: 'positive', beta: 'accent', experimental: 'caution' } as const

export function stabilityBadge({ 'x-stability': stability, 'x-sunset': sunset }: Operation): Html {
  if (sunset !== undefined) return html`<span class="badge badge--negative">deprecated</span>`
  return html`<span class="badge badge--${STABILITY_TONES[stability]}">${stability}</span>`
}

/** An operation with everything that a caller needs: text on the left, samples and the form on the right. */
export function operationSection(site: Site, operation: Operation): Html {
  const { contract } = site
  const { operationId, method, path, summary, description, success } = operation
  const text = html`<p>${site.inline(description)}</p>
${requestFields(site, operation)}
${responses(site, operation)}`
  const { schema } = success.type === 'application/json' ? success : {}
  const aside = html`${sampleTabs(operationId, `Request: ${summary}`, samplesOf(contract, operation))}
${schema && jsonBlock(`Response ${success.status}`, exampleOf(contract, schema))}
${tryIt(contract, operation)}`
  const endpoint = html`<p class="cluster">${methodBadge(method)}<code>/v1${path}</code>${stabilityBadge(operation)}</p>`
  return section(html`${heading(operationId, summary)}${endpoint}`, text, aside)
}

function section(head: Html, text: Html, aside: Html | undefined): Html {
  return html`<section class="operation">${head}
<div class="operation__columns"><div class="operation__text">${text}</div><div class="operation__aside">${aside}</div></div>
</section>
`
}

function jsonBlock(title: string, value: unknown): Html {
  return codeBlock(title, 'json', JSON.stringify(value, null, 2))
}

const PLACES = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const

function requestFields(site: Site, { operationId, parameters, body }: Operation) {
  const tables = Object.entries(PLACES).map(([place, title]) => {
    const found = parameters.filter((parameter) => parameter.in === place)
    const fields = found.map((parameter) => ({ ...parameter, path: parameter.name }))
    return fieldTable(site, operationId, title, fields)
  })
  const bodyFields = body === undefined ? [] : fieldsOf(site.contract, body.schema, true)
  return [...tables, fieldTable(site, operationId, 'Body', bodyFields)]
}

/** Each field has the address `owner.path`. Names of records lead to them. */
function fieldTable(site: Site, owner: string, title: string, fields: readonly Field[]): Html | undefined {
  if (fields.length === 0) return undefined
  const rows = fields.map(({ path, schema, description, required }) => {
    const id = `${owner}.${path}`
    const choices = choicesOf(site.contract.resolve(schema))
    const name = html`<a class="field-name" href="#${id}">${path}</a> <span class="muted small">${recordLink(schema)}</span>${required && html` <span class="caution small">required</span>`}`
    const meaning = html`${description !== undefined && site.inline(description)} <span class="muted small">${boundsOf(schema).join(' · ')} ${choices}</span>`
    return { id, cells: [name, meaning] }
  })
  return html`<h3>${title}</h3>${table(['Field', 'Meaning'], rows)}`
}

function choicesOf({ enum: choices }: Schema): Html | undefined {
  return choices && html`One of ${choices.map((choice) => html`<code>${String(choice)}</code> `)}`
}

/** The type of a schema, which leads to its record if it has one. */
export function recordLink(schema: Schema): Html {
  const name = nameOf(schema.items ?? schema)
  const text = typeText(schema)
  if (name === undefined) return html`${text}`
  return html`${text.slice(0, text.length - name.length)}<a href="${recordAddress(name)}">${name}</a>`
}

function responses(site: Site, { operationId, success, failures }: Operation): Html {
  const { status, description, schema, headers, events } = success
  const kinds = Object.entries(events ?? {}).map(
    ([kind, data]) => html`<li><code>${kind}</code> ${recordLink(data)}</li>`,
  )
  const isCommon = (name: string) => site.contract.operations.every((each) => name in each.success.headers)
  const names = Object.keys(headers).filter((name) => !isCommon(name))
  const links = names.map((name) => html`<a href="${recordAddress(name)}">${name}</a> `)
  const failureRows = failures.map((answer) => ({
    id: `${operationId}.${answer.status}`,
    cells: [statusBadge(answer.status), failureText(site, answer.description)],
  }))
  return html`<h3>Response</h3>
<p id="${operationId}.${status}">${statusBadge(status)} ${site.inline(description)}</p>
${kinds.length > 0 ? html`<ul aria-label="Kinds of events and their data">${kinds}</ul>` : schema && html`<p class="muted">Body: ${recordLink(schema)}</p>`}
${links.length > 0 && html`<p class="muted">Headers: ${links}</p>`}
<details><summary>Other responses <span class="muted">${failures.map((answer) => answer.status).join(' ')}</span></summary>
${table(['Status', 'When'], failureRows)}</details>`
}

/** A description of an error has the form `` `code`: when it occurs. ``, repeated for each code. */
function failureText(site: Site, description: string): Html {
  const codes = [...description.matchAll(/`(\w+)`: ([^`]*)/g)]
  if (codes.length === 0) return site.inline(description)
  const texts = codes.map(
    ([, code = '', when = '']) =>
      html`<p><a href="/docs/guides/errors#${code}"><code>${code}</code></a> ${site.inline(when.trim())}</p>`,
  )
  return html`${texts}`
}

/** Every record with its fields, and every header of a response. */
export function recordSections(site: Site): Html {
  const { contract } = site
  const { schemas, headers } = contract.document.components
  const sections = Object.entries(schemas).map(([name, schema]) => {
    const text = html`<p>${site.inline(schema.description ?? '')} ${choicesOf(schema)}</p>${fieldTable(site, name, 'Fields', fieldsOf(contract, schema, false))}`
    const example = schema.enum === undefined ? jsonBlock(name, exampleOf(contract, schema)) : undefined
    return section(heading(name, name), text, example)
  })
  const rows = Object.entries(headers).map(([name, { description }]) => ({
    id: name,
    cells: [html`<code>${name}</code>`, site.inline(description)],
  }))
  return html`${sections}${heading('headers', 'Headers of responses')}${table(['Header', 'Meaning'], rows)}`
}
