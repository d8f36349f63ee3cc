import type { Contract, Operation, Parameter } from './contract.ts'
import { Html, html } from './html.ts'
import { exampleOfBody, exampleOfParameter } from './schema-text.ts'

/** A form that web/src/docs-page/try-it.ts sends. Nothing is validated here, so that readers can try errors too. */
export function tryIt(
  contract: Contract,
  { operationId, method, path, parameters, body, success }: Operation,
): Html {
  const fields = parameters.map((parameter) => parameterField(contract, operationId, parameter))
  return html`<details class="card try-it"><summary>Try it</summary>
<form class="stack" data-method="${method}" data-path="${path}">
${field(`${operationId}-key`, html`API key <span class="muted">kept for this tab only</span>`, (id) => html`<input id="${id}" class="input" type="password" name="key" autocomplete="off" spellcheck="false" placeholder="pst_live_…">`)}
<button type="button" class="button button--small" name="staff-key" hidden>Use the key of the staff page</button>
${fields}
${body !== undefined && bodyField(operationId, body.type, exampleOfBody(contract, body, 2))}
${method !== 'GET' && html`<p class="caution small">This changes the data of this store.</p>`}
<div class="cluster"><button type="submit" class="button button--primary">${success.events === undefined ? `Send ${method}` : 'Open the stream'}</button><button type="button" class="button" name="stop" hidden>Stop</button></div>
<p class="try-it__outcome" role="status"></p>
<div class="code" data-part="answer" hidden><details><summary>Headers</summary><pre data-part="headers" tabindex="0"></pre></details><pre data-part="body" tabindex="0"></pre></div>
</form></details>`
}

function field(id: string, label: Html, control: (id: string) => Html): Html {
  return html`<div class="field"><label class="field__label" for="${id}">${label}</label>${control(id)}</div>`
}

function parameterField(contract: Contract, operationId: string, parameter: Parameter): Html {
  const { name, in: place, required, schema } = parameter
  const choices = contract.resolve(schema).enum?.map((choice) => html`<option>${String(choice)}</option>`)
  const optional = required ? undefined : html`<option value="">not sent</option>`
  // An empty value in the path would give the path of another operation.
  const isRequired = place === 'path' && new Html(' required')
  return field(`${operationId}-${place}-${name}`, html`${name} <span class="muted">${place}</span>`, (id) =>
    choices === undefined
      ? html`<input id="${id}" class="input" name="${name}" data-place="${place}" value="${exampleOfParameter(contract, parameter)}" placeholder="not sent" autocomplete="off" spellcheck="false"${isRequired}>`
      : html`<select id="${id}" class="select" name="${name}" data-place="${place}">${optional}${choices}</select>`,
  )
}

function bodyField(operationId: string, type: string, example: string): Html {
  const rows = Math.min(14, example.split('\n').length + 1)
  return field(
    `${operationId}-body`,
    html`Body <span class="muted">${type}</span>`,
    (id) =>
      html`<textarea id="${id}" class="textarea" name="body" data-type="${type}" rows="${rows}" spellcheck="false">${example}</textarea>`,
  )
}
