import { afterEach, describe, expect, test } from 'vitest'
import { checkSignature } from '../../shared/api/request-signature.ts'
import { closeReceivers } from '../webhooks/http/servers.ts'
import { accountOf, payoutOf, submissionOf } from './examples.ts'
import {
  ACCEPTED,
  accepted,
  bankReplying,
  ECHO,
  faultOf,
  PAID,
  paid,
  pay,
  SECRET,
  submit,
} from './stub-bank.ts'

afterEach(closeReceivers)

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
    result: accepted,
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
    result: paid,
    replies: [
      [200, PAID, 'paid'],
      [200, `{${ECHO},"status":"underway"}`, 'underway'],
      [422, `{${ECHO},"status":"rejected","message":"No such account"}`, 'rejected'],
    ],
  },
] as const

describe.each(operations)('a $name', ({ path, uuid, send, body, result, replies }) => {
  test('and its query are signed like a request to the API', async () => {
    const { url, calls } = await bankReplying(404, '')
    expect(await faultOf(send(url, true))).toBe(2001)
    expect(calls.map((call) => `${call.method} ${call.path}`)).toEqual([
      `GET ${path}/${uuid}`,
      `POST ${path}`,
    ])
    for (const { method, path, headers, body } of calls) {
      const [signature, timestamp] = [headers['x-signature'], headers['x-timestamp']].map(String)
      const signed = { method, targets: [path], body: Buffer.from(body), signature, timestamp }
      expect(checkSignature(signed, [SECRET], new Date())).toBeUndefined()
      expect(checkSignature(signed, ['cs_another'], new Date())).toBeDefined()
    }
  })

  test('has the same bytes in each repeat', async () => {
    const { url, calls } = await bankReplying(404, '')
    for (const repeated of [false, true, false]) await faultOf(send(url, repeated))
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST', 'POST'])
    const [first, query, ...repeats] = calls
    expect(query?.body).toBe('')
    for (const repeat of repeats) expect(repeat.body).toBe(first?.body)
  })

  test.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    const other = await bankReplying(200, body)
    const { url } = await bankReplying(status, '', { headers: { location: other.url } })
    for (const repeated of [false, true]) expect(await faultOf(send(url, repeated))).toBe(2001)
    expect(other.calls).toEqual([])
  })

  describe('that is repeated', () => {
    test.each<readonly [number, string, string]>(replies)(
      'ends with the reply %i %s to its query',
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
    ])('is not sent after the reply %i %s to its query', async (status, reply, code) => {
      const { url, methods } = await bankReplying(status, reply)
      expect(await faultOf(send(url, true))).toBe(code)
      expect(methods()).toEqual(['GET'])
    })

    test('is sent if the reply to its query is 404', async () => {
      const { url, methods } = await bankReplying(200, body, { queryStatus: 404 })
      expect(await send(url, true)).toEqual(result)
      expect(methods()).toEqual(['GET', 'POST'])
    })
  })
})
