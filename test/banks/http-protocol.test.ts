import { describe, expect, test } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import { accountOf, payoutOf, submissionOf } from './examples.ts'
import { ACCEPTED, bankReplying, ECHO, faultOf, PAID, pay, SECRET, submit } from './stub-bank.ts'

const submission = submissionOf({ narration: 'Nyansapɔ \u{1F600}' })
const payout = payoutOf({
  account: { ...accountOf('1041001001'), accountName: 'Nyansapɔ \u{1F600}' },
})

const operations = [
  {
    name: 'submission',
    path: '/hooks/submissions',
    uuid: submission.uuid,
    send: (url: string, repeated = false) => submit(url, { ...submission, repeated }),
    body: ACCEPTED,
    replies: [
      [200, ACCEPTED, 'accepted'],
      [422, `{${ECHO},"status":"rejected","code":"timeout","message":"No"}`, 'rejected'],
    ],
  },
  {
    name: 'payout',
    path: '/hooks/settlements',
    uuid: payout.uuid,
    send: (url: string, repeated = false) => pay(url, { ...payout, repeated }),
    body: PAID,
    replies: [
      [200, PAID, 'paid'],
      [200, `{${ECHO},"status":"underway"}`, 'underway'],
      [422, `{${ECHO},"status":"rejected","message":"No such account"}`, 'rejected'],
    ],
  },
] as const

test.each([
  [false, 404, [], 'unprompted'],
  [true, 404, ['GET'], 'unprompted'],
  [true, 200, ['GET'], 'accepted'],
] as const)(
  'a submission above the cap (repeated: %j, its query replies %i) sends %j and is %s',
  async (repeated, status, methods, kind) => {
    const { url, calls } = await bankReplying(status, ACCEPTED)
    const result = await submit(url, { ...submission, repeated }, { mayPrompt: false })
    expect(result.kind).toBe(kind)
    expect(calls.map(({ method }) => method)).toEqual(methods)
  },
)

describe.each(operations)('a $name', ({ path, uuid, send, body, replies }) => {
  test('a submission and its query are signed, and a repeat sends the same bytes', async () => {
    const { url, calls } = await bankReplying(404, '')
    for (const repeated of [false, true, false])
      expect(await faultOf(send(url, repeated))).toBe(2001)
    const [post, query] = [`POST ${path}`, `GET ${path}/${uuid}`]
    expect(calls.map((call) => `${call.method} ${call.path}`)).toEqual([post, query, post, post])
    const bodies = calls.map(({ body }) => body)
    expect(bodies).toEqual([bodies[0], '', bodies[0], bodies[0]])
    for (const { method, path, headers, body } of calls) {
      const [signature, timestamp] = [headers['x-signature'], headers['x-timestamp']].map(String)
      const signed = { method, targets: [path], body: Buffer.from(body), signature, timestamp }
      expect(checkSignature(signed, [SECRET], new Date())).toBeUndefined()
      expect(checkSignature(signed, ['cs_another'], new Date())).toBeDefined()
    }
  })

  test.each([301, 302, 303, 307, 308])('a redirect with %i is not followed', async (status) => {
    const other = await bankReplying(200, body)
    const { url } = await bankReplying(status, '', { headers: { location: other.url } })
    for (const repeated of [false, true]) expect(await faultOf(send(url, repeated))).toBe(2001)
    expect(other.calls).toEqual([])
  })

  test.each<readonly [number, string, string]>(replies)(
    'a repeated operation ends with the reply %i %s to its query',
    async (status, reply, kind) => {
      const { url, methods } = await bankReplying(status, reply)
      expect(await send(url, true)).toMatchObject({ kind })
      expect(methods()).toEqual(['GET'])
    },
  )

  test.each([
    [500, '', 2500],
    [401, '', 2001],
    [410, '', 2001],
    [204, '', 2001],
    [200, `{${ECHO},"status":"unknown"}`, 2002],
    [200, '<html>Maintenance</html>', 2002],
  ])('no operation is repeated after the reply %i %s to its query', async (status, reply, code) => {
    const { url, methods } = await bankReplying(status, reply)
    expect(await faultOf(send(url, true))).toBe(code)
    expect(methods()).toEqual(['GET'])
  })

  test('an operation is repeated if the reply to its query is 404', async () => {
    const { url, methods } = await bankReplying(200, body, { queryStatus: 404 })
    expect((await send(url, true)).kind).toBe(replies[0][2])
    expect(methods()).toEqual(['GET', 'POST'])
  })
})
