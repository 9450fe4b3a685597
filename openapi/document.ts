import { operationNames, operations } from '../shared/api/operations.ts'
import {
  pingWebhookSchema,
  settlementWebhookSchema,
  webhookSchema,
} from '../shared/views/webhook-payload.ts'
import { bodyComponent, operationOf, parameterComponents } from './operation.ts'
import { exampleComponents, headerComponents } from './responses.ts'
import { type Json, schemaComponents, schemaOf } from './schemas.ts'
import { webhooks } from './webhooks.ts'

/** The API as an OpenAPI 3.1 document, from the rows and schemas that the service runs on. */

const DESCRIPTION = `
Collects debits from bank accounts in Ghana for payment providers.

Every reply is an envelope: \`success\`, \`data\` or \`error\`, and \`meta\`. An error has a published
code; the messages of refused fields stand in \`details\` and in \`error.details\`. A path that is none
of these is answered with 404 and code 1404, another method with 405 and code 1405, both without a
look at the credential. HEAD is answered as GET is, without the body.

\`Authorization\` is \`Bearer\` or \`Token\`, in any case, and the credential. \`details\` of a 401 name the
problem: no header, more than one, another scheme, a malformed token, or a credential that is
unknown, expired or of another kind of caller.

\`x-rate-limit\` of an operation is the published number of requests a minute, with the code of the 429
above it. \`per\` is its scope: \`caller\` (all credentials of a provider), \`token\` (one token of a bank)
or \`reference\` (one transaction reference of a provider; \`perCaller\` is the total over all of its
references). The operator can set another limit for a provider or a bank; the \`X-RateLimit-*\` headers
and the \`details\` of a 429 show the limit in effect. Failed credentials (30 a minute) and requests that
no operation matches (60 a minute, sandbox 30) are limited per address with code 1453, and rejections of
a known key per key and address.

A provider may ask that its requests be signed. Then \`X-Timestamp\` is the time in epoch seconds, and
\`X-Signature\` the lowercase hex of the HMAC-SHA256 over method, path with query, timestamp and body.
`.trim()

const paths = (): Json => {
  const templates = [...new Set(operationNames.map((name) => operations[name].path))]
  return Object.fromEntries(
    templates.map((path) => [
      path,
      Object.fromEntries(
        operationNames
          .filter((name) => operations[name].path === path)
          .map((name) => [operations[name].method.toLowerCase(), operationOf(name)]),
      ),
    ]),
  )
}

const bearer = (description: string): Json => ({ type: 'http', scheme: 'bearer', description })

export const openApi = (): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Debit collection service',
    version: 'v1',
    description: DESCRIPTION,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The service that this document comes from' }],
  tags: [
    { name: 'Debit requests', description: 'Of payment providers: charges and what came of them' },
    {
      name: 'Events',
      description: 'Of payment providers: what their webhooks received, and all that happened',
    },
    { name: 'Settlements', description: 'Of payment providers: what completed debits came to' },
    { name: 'Banks', description: 'Of payment providers: banks that can be charged' },
    { name: 'Bank reports', description: 'Of banks: their transactions and their outcomes' },
  ],
  paths: paths(),
  webhooks,
  components: {
    securitySchemes: {
      provider: bearer('The API key of a payment provider'),
      bank: bearer('The token of a bank'),
    },
    schemas: {
      ...schemaComponents,
      ...Object.fromEntries(operationNames.flatMap(bodyComponent)),
      Webhook: schemaOf(webhookSchema()),
      SettlementWebhook: schemaOf(settlementWebhookSchema()),
      Ping: schemaOf(pingWebhookSchema()),
    },
    parameters: parameterComponents,
    headers: headerComponents,
    examples: exampleComponents(operationNames),
  },
})

/** The text of docs/openapi.json. */
export const openApiText = (): string => `${JSON.stringify(openApi(), null, 2)}\n`
