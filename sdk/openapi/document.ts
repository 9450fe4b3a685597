import { operationNames, operations } from '../../shared/api/operations.ts'
import { bankProtocol } from './bank-protocol.ts'
import { errorGuide } from './error-guide.ts'
import { bodyComponent, operationOf, parameterComponents } from './operation.ts'
import { exampleComponents, headerComponents } from './responses.ts'
import { componentsOf, type Json, schemaComponents } from './schemas.ts'
import { eventDiscriminator, webhooks } from './webhooks.ts'

const DESCRIPTION = `
Collects debits from bank accounts in Ghana for payment providers.

Every reply is an envelope: \`success\`, \`data\` or \`error\`, and \`meta\`. An error has a published
code; \`details\` and \`error.details\` contain the messages of refused fields, and \`doc_url\` leads to
the advice for the code. Unknown paths get 404 with code 1404 and unknown methods 405 with code 1405,
before the credential is checked. \`x-error-codes\` of a response are its codes. HEAD returns the headers
of GET.

\`Authorization\` is \`Bearer\` or \`Token\`, in any case, and the credential. \`details\` of a 401 name the
problem: a missing or repeated header, another scheme, a malformed token, or a credential that is
unknown, expired or of another kind of caller.

\`x-rate-limit\` of an operation is the published number of requests a minute, with the code of the 429
above it. \`per\` is its scope: \`caller\` (all credentials of a provider), \`token\` (one token of a bank)
or \`reference\` (one transaction reference of a provider; \`perCaller\` is the total over all of its
references). Operators can override limits; the \`X-RateLimit-*\` headers and the \`details\` of a 429
show the limit in effect. Failed credentials (30 a minute) and requests without an operation (60 a
minute, sandbox 30) are limited per address with code 1453, rejections of a known key per key and
address.

Lists return \`per_page\` items, newest first, except the event feed and banks. To read a whole list, repeat the
request with \`meta.next_cursor\` as \`cursor\` while \`meta.has_more\` is true; \`x-pagination\` of an
operation names these members. Numbered pages (\`page\`) reach 10,000 items and have counts. A list
ignores \`page\` if it has no such parameter, or gets a cursor.

Schemas cannot express some rules of the service: a cursor belongs to its list, caller and filter;
\`cursor\` excludes \`after\`; an amount sent as a number has two decimals in its text, a fee no exponent;
a bank identifier is that of a live bank; a time is on the calendar, and \`created_to\` not before
\`created_from\`; a text has a visible character and no lone surrogates; and metadata has no control or
invisible formatting characters and only numbers that a double keeps.

A provider can require signed requests. Then \`X-Timestamp\` is the time in epoch seconds, and
\`X-Signature\` the lowercase hex of the HMAC-SHA256 over method, path with query, timestamp and body.
`.trim()

const paths = (): Json => {
  const byPath = Object.groupBy(operationNames, (name) => operations[name].path)
  return Object.fromEntries(
    Object.entries(byPath).map(([path, names]) => [
      path,
      Object.fromEntries(
        names.map((name) => [operations[name].method.toLowerCase(), operationOf(name)]),
      ),
    ]),
  )
}

const namedSchemas = (): Json => {
  const bodies = Object.fromEntries(operationNames.flatMap(bodyComponent))
  const schemas = componentsOf({ paths: paths(), webhooks, bodies }) as Record<string, Json>
  const { anyOf: oneOf, ...event } = schemas.Event ?? {}
  return { ...bodies, ...schemas, Event: { ...event, oneOf, discriminator: eventDiscriminator } }
}

const bearer = (description: string): Json => ({ type: 'http', scheme: 'bearer', description })

export const openApi = (): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Debit collection service',
    version: 'v1',
    description: DESCRIPTION,
    contact: { name: 'Debit collection service' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This service' }],
  tags: [
    { name: 'Debit requests', description: 'Charges and their outcomes, for payment providers' },
    { name: 'Events', description: 'Events and webhook deliveries, for payment providers' },
    { name: 'Settlements', description: 'Settlement batches and reports, for payment providers' },
    { name: 'Banks', description: 'Banks and customer accounts, for payment providers' },
    { name: 'Bank reports', description: 'Transactions and their outcomes, for banks' },
  ],
  paths: paths(),
  webhooks,
  components: {
    securitySchemes: {
      provider: bearer('API key of a payment provider'),
      bank: bearer('Token of a bank'),
    },
    schemas: { ...schemaComponents, ...namedSchemas() },
    parameters: parameterComponents,
    headers: headerComponents,
    examples: exampleComponents(operationNames),
  },
})

const textOf = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`

/** Returns the text of each generated page, by its file. */
export const descriptionFiles = (): Record<string, string> => ({
  'docs/openapi.json': textOf(openApi()),
  'docs/bank-protocol.json': textOf(bankProtocol()),
  'docs/errors.md': errorGuide(),
})

export const openApiText = (): string => textOf(openApi())
