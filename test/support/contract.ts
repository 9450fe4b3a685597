import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openApi } from '../../sdk/openapi/document.ts'
import { routedPath } from '../../shared/api/resources.ts'
import { perProcess } from './per-process.ts'

/** Checks requests, replies and webhooks against the API description. */

type Json = Record<string, unknown>

type Header = { schema?: { type: string } }

type Described = {
  requestBody?: Json
  responses: Record<
    string,
    { headers: Record<string, Header>; content: Json; 'x-error-codes'?: number[] }
  >
}

/** Closes the schemas of replies, which the description leaves open for later members. */
const closed = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.map((member) => closed(member))
  if (typeof value !== 'object' || value === null || key.endsWith('Request')) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, closed(member, name)]),
  )
  return members.type === 'object' && 'properties' in members
    ? { additionalProperties: false, ...members }
    : members
}

type Document = {
  paths: Record<string, Record<string, Described>>
  components: { headers: Record<string, Header> }
  webhooks: Record<string, { post: { parameters: { name: string; required: boolean }[] } }>
}

const JSON_TYPE = 'application/json'

const { document, ajv } = perProcess('contract', () => {
  const closedDocument = closed(openApi()) as Document
  const validator = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  addFormats.default(validator)
  validator.addSchema(closedDocument, 'api')
  return { document: closedDocument, ajv: validator }
})

const schemaAt = (...pointer: string[]): ValidateFunction => {
  const segments = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
  const $ref = `api#/${segments.map(encodeURIComponent).join('/')}`
  const schema = ajv.getSchema($ref)
  if (!schema) throw new Error(`${$ref} is not described`)
  return schema
}

const responseSchema = (template: string, method: string, status: string, type: string) =>
  schemaAt('paths', template, method, 'responses', status, 'content', type, 'schema')

const requestSchema = (...to: string[]) =>
  schemaAt(...to, 'requestBody', 'content', JSON_TYPE, 'schema')

const hold = (what: string, validate: ValidateFunction, value: unknown): void => {
  if (validate(value)) return
  throw new Error(
    `${what} is not as described: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
  )
}

const pathOf = (path: string): string | undefined =>
  Object.keys(document.paths)
    .filter((template) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(
        routedPath(path.split('?')[0] ?? ''),
      ),
    )
    .sort((a, b) => a.split('{').length - b.split('{').length)[0]

export type Exchange = {
  method: string
  path: string
  sent: unknown
  status: number
  headers: Headers
  body: unknown
}

const requestIdIn = (body: unknown): string =>
  (body as { meta: { request_id: string } }).meta.request_id

const everyReply = {
  'cache-control': 'no-store',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
}

/** Checks the headers of every reply. */
const expectHeaders = (what: string, { status, headers, body }: Exchange): void => {
  const { code } = (body as { error?: { code: number } } | undefined)?.error ?? {}
  const expected = {
    ...everyReply,
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(code === 1503 ? { 'retry-after': '5' } : {}),
  }
  for (const [name, value] of Object.entries(expected)) {
    if (headers.get(name) !== value) throw new Error(`${what}: ${name} is ${headers.get(name)}`)
  }
}

/** @throws when the body of an error violates the description */
export const holdError = (what: string, body: unknown): void =>
  hold(what, schemaAt('components', 'schemas', 'Problem'), body)

/** @throws when a reply or an accepted body violates the description */
export const holdToContract = (exchange: Exchange): void => {
  const { method, path, sent, status, headers, body } = exchange
  const what = `${method} ${path.slice(0, 100)}: ${status}`
  expectHeaders(what, exchange)
  // Replies to HEAD have headers alone.
  if (method === 'HEAD') return
  const template = pathOf(path)
  if (!template) {
    holdError(what, body)
    return
  }
  const methods = document.paths[template] ?? {}
  // All operations of a path describe the reply to an unsupported method.
  const [name = '', described] = methods[method.toLowerCase()]
    ? [method.toLowerCase(), methods[method.toLowerCase()]]
    : (Object.entries(methods)[0] ?? [])
  const response = described?.responses[status]
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  if (!response?.content[type]) throw new Error(`${what} is not described as ${type}`)
  hold(what, responseSchema(template, name, String(status), type), body)
  const { 'x-error-codes': codes } = response
  if (codes && !codes.includes((body as { error: { code: number } }).error.code)) {
    throw new Error(`${what} has a code that is not described`)
  }
  const fileHeader = 'Content-Disposition'
  if (headers.has(fileHeader) && !response.headers[fileHeader])
    throw new Error(`${what} has an undescribed ${fileHeader}`)
  const optional = [
    ...['Idempotent-Replayed', 'Retry-After'],
    ...(type === JSON_TYPE ? [fileHeader] : []),
  ]
  for (const header of Object.keys(response.headers)) {
    const text = headers.get(header)
    if (!optional.includes(header) && text === null) throw new Error(`${what} is without ${header}`)
    const { schema } = { ...response.headers[header], ...document.components.headers[header] }
    if (text !== null && schema?.type === 'integer' && !/^[0-9]+$/.test(text))
      throw new Error(`${header} of ${what} is ${text}`)
  }
  if (type === JSON_TYPE && (body as { success: boolean }).success !== status < 400) {
    throw new Error(`${what} has another success`)
  }
  if (type === JSON_TYPE && headers.get('x-request-id') !== requestIdIn(body)) {
    throw new Error(`${what}: X-Request-ID is not meta.request_id`)
  }
  if (status < 300 && described?.requestBody) {
    hold(`the body of ${what}`, requestSchema('paths', template, name), sent)
  }
}

/** @throws when a webhook violates the description */
export const holdWebhook = (headers: IncomingHttpHeaders, body: { event: string }): void => {
  // Described under its subscription name.
  const event = body.event.replace(/^debit_request\./, 'transaction.')
  hold(event, requestSchema('webhooks', event, 'post'), body)
  for (const { name, required } of document.webhooks[event]?.post.parameters ?? []) {
    if (required && !headers[name.toLowerCase()]) throw new Error(`${event} is without ${name}`)
  }
}
