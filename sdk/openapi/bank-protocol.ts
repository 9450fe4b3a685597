import { accountReply } from '../../shared/banks/replies.ts'
import { PhoneNumber } from '../../shared/domain/phone.ts'
import { named } from '../../shared/views/fields.ts'
import {
  type BankExchange,
  exampleOf,
  exchanges,
  exchangeTags,
  type ReplyName,
  replies,
} from './bank-exchanges.ts'
import { exampleSignature } from './example-debit.ts'
import { componentsOf, type Json, schemaOf, text } from './schemas.ts'

/** Describes the requests that banks answer (docs/bank-protocol.md). */

const DESCRIPTION = `
The requests that the service sends to a bank with connector \`http\`, and the replies that it accepts.
docs/bank-protocol.md has the rules; any other reply leaves the result unknown.

\`X-Signature\` is the lowercase hex of the HMAC-SHA256 over method, path, timestamp and body, keyed with
the connector secret. Every reply repeats \`uuid\` and \`amount\` of the request.
`.trim()

const responses = (names: readonly ReplyName[], request: BankExchange['example']): Json => {
  const statuses = [...new Set(names.flatMap((name) => replies[name].statuses))].sort()
  return Object.fromEntries(
    statuses.map((status) => {
      const possible = names.filter((name) => replies[name].statuses.includes(status))
      return [status, responseOf(possible, request)]
    }),
  )
}

const responseOf = (names: readonly ReplyName[], request: BankExchange['example']): Json => ({
  description: names.map((name) => exampleOf(name, request).status).join(' or '),
  content: {
    'application/json': {
      schema: oneOf(names.map((name) => schemaOf(replies[name].schema))),
      examples: Object.fromEntries(
        names.map((name) => [name, { value: exampleOf(name, request) }]),
      ),
    },
  },
})

const oneOf = (schemas: Json[]): Json => (schemas.length === 1 && schemas[0]) || { oneOf: schemas }

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  ...text(description),
  example,
})

const signature = [
  header(
    'X-Timestamp',
    'Epoch seconds; refuse a request that is more than five minutes off',
    exampleSignature.timestamp,
  ),
  header('X-Signature', 'Lowercase hex of the HMAC-SHA256', exampleSignature.signature),
]

const pathsOf = ([path, exchange]: [string, BankExchange]): [string, Json][] => [
  [
    path,
    {
      post: {
        operationId: exchange.id,
        tags: [exchange.tag],
        summary: exchange.summary,
        description:
          'A repeat has the same key, not always the same bytes. It gets a reply without a second effect.',
        parameters: [
          header('X-Idempotency-Key', 'Same as `uuid`', exchange.example.uuid),
          ...signature,
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: schemaOf(exchange.body),
              examples: { request: { summary: exchange.summary, value: exchange.example } },
            },
          },
        },
        responses: responses(exchange.replies, exchange.example),
      },
    },
  ],
  [
    `${path}/{uuid}`,
    {
      get: {
        operationId: exchange.query,
        tags: [exchange.tag],
        summary: `${exchange.summary}: query`,
        description:
          'The service queries before it repeats a request. A query never has an effect.',
        parameters: [
          {
            name: 'uuid',
            in: 'path',
            required: true,
            description: '`uuid` of the request; 404 for one that the bank never received',
            // Uuid would refuse the query of docs/bank-protocol.md#query for a bank that is down.
            schema: { type: 'string', format: 'uuid' },
            example: exchange.example.uuid,
          },
          ...signature,
        ],
        responses: {
          ...responses(exchange.replies, exchange.example),
          404: { description: 'The bank never received the request' },
        },
      },
    },
  ],
]

const account: Json = {
  get: {
    operationId: 'findAccount',
    tags: ['Accounts'],
    summary: 'Return the account of a phone number',
    description:
      'The service asks during a charge for a number that it does not know, if an operator has turned this on.',
    parameters: [
      {
        name: 'phone',
        in: 'path',
        required: true,
        description: 'Phone number in E.164',
        schema: schemaOf(PhoneNumber),
        example: '+233241234567',
      },
      ...signature,
    ],
    responses: {
      200: {
        description: 'The account',
        content: {
          'application/json': {
            schema: schemaOf(named('Account', accountReply)),
            example: { account_number: '1041001001', name: 'Ama Mensah', active: true },
          },
        },
      },
      404: { description: 'The number has no account at the bank' },
    },
  },
}

export const bankProtocol = (): Json => {
  const paths = {
    ...Object.fromEntries(Object.entries(exchanges).flatMap(pathsOf)),
    '/accounts/{phone}': account,
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Protocol for banks',
      version: 'v1',
      description: DESCRIPTION,
      contact: { name: 'Debit collection service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{url}',
        description: 'The connector URL of the bank',
        variables: { url: { default: 'https://api.xyz.example/debits' } },
      },
    ],
    tags: Object.entries(exchangeTags).map(([name, description]) => ({ name, description })),
    security: [],
    paths,
    components: { schemas: componentsOf(paths) },
  }
}
