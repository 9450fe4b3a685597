import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { bankProtocol } from '../../../sdk/openapi/bank-protocol.ts'
import { bankReplying, ECHO, faultOf, pay, queryOutcome, submit } from '../../banks/stub-bank.ts'

/** The description of the protocol for banks, checked against the connector. */

// biome-ignore lint/suspicious/noExplicitAny: the document has no types
const document = bankProtocol() as any
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'protocol', ...document })

const operation = (path: string) => document.paths[path][path.endsWith('}') ? 'get' : 'post']
const send = { '/submissions': submit, '/settlements': pay } as const

test.each(Object.entries(send))('a request to %s has the described body', async (path, request) => {
  const { url, calls } = await bankReplying(200, `{${ECHO},"status":"accepted"}`)
  await request(url).catch(() => undefined)
  const { $ref } = operation(path).requestBody.content['application/json'].schema
  expect(ajv.validate(`protocol${$ref}`, JSON.parse(calls[0]?.body ?? ''))).toBe(true)
})

const page = readFileSync('docs/bank-protocol.md', 'utf8')

test.each(['/submissions', '/settlements', '/refunds'])(
  'the page of the protocol lists each field of a request to %s, and its example has them',
  (path) => {
    const section = page.split(/^## /m).find((text) => text.includes(`POST {url}${path}\n`)) ?? ''
    const { $ref } = operation(path).requestBody.content['application/json'].schema
    const fields = Object.keys(document.components.schemas[$ref.split('/').at(-1)].properties)
    const [example = '{}'] = /^\{"uuid.*$/m.exec(section) ?? []
    expect(Object.keys(JSON.parse(example))).toEqual(fields)
    const [table = ''] = /^\| Field \|.*\n(?:\|.*\n)+/m.exec(section) ?? []
    const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.split(', '),
    )
    expect(cells).toEqual(fields.map((field) => `\`${field}\``))
  },
)

const described = Object.entries({ ...send, '/submissions/{uuid}': queryOutcome }).flatMap(
  ([path, request]) =>
    Object.entries(operation(path).responses as Record<string, Described>).flatMap(
      ([status, { content }]) =>
        Object.entries(content?.['application/json'].examples ?? {}).map(
          ([name, { value }]) => [path, status, name, value, request] as const,
        ),
    ),
)

type Described = {
  content?: { 'application/json': { examples: Record<string, { value: object }> } }
}

const replyOf = (value: object): string => {
  const { uuid, amount, ...rest } = value as Record<string, unknown>
  return `{${ECHO},${JSON.stringify(rest).slice(1)}`
}

test.each(described)(
  'the operation %s with %s accepts the reply %s',
  async (_, status, __, value, request) => {
    const { url } = await bankReplying(Number(status), replyOf(value))
    await expect(request(url)).resolves.not.toThrow()
  },
)

test.each(described)('the operation %s refuses the status 418; %s may have %s', async (...row) => {
  const [, , , value, request] = row
  const { url } = await bankReplying(418, replyOf(value))
  expect(await faultOf(request(url))).toBe(2001)
})
