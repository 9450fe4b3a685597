import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sampleFiles } from '../../cli/sample-events.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { operationNames } from '../../shared/api/operations.ts'
import { sampleEvent, useService } from '../support/running-service.ts'
import { sampleReplies } from '../support/sample-replies.ts'

/** Sample events from events/, sent through the Lambda Invoke API as by `npm run invoke`. */

const service = useService()

const invoke = async (name: string, event: unknown) => {
  const path = `/2015-03-31/functions/${name}/invocations`
  const response = await fetch(`${service.sandbox().address}${path}`, {
    method: 'POST',
    body: JSON.stringify(event),
  })
  return { status: response.status, headers: response.headers, reply: await response.json() }
}

const bodyOf = (reply: unknown) => JSON.parse((reply as { body: string }).body)

describe('sample events', () => {
  test.each(functionRows.map(({ name }) => name))('of %s gets its reply', async (name) => {
    const { status, headers, reply } = await invoke(name, await sampleEvent(name))
    expect(status).toBe(200)
    expect(headers.get('x-amz-function-error')).toBeNull()
    expect(reply).toMatchObject(sampleReplies[name] ?? {})
    expect(sampleReplies).toHaveProperty(name)
  })

  test('of the API match operations.ts (npm run events writes them)', () => {
    const files = Object.entries(sampleFiles())
    for (const [name, text] of files) {
      expect(readFileSync(`events/${name}.json`, 'utf8'), name).toBe(text)
    }
    expect(files.map(([name]) => name).sort()).toEqual(
      [...operationNames, 'answer-unmatched'].sort(),
    )
  })

  test('of several operations work on one debit with its reference', async () => {
    const charged = await invoke('charge', await sampleEvent('charge'))
    const { reference } = bodyOf(charged.reply).data
    const event = JSON.stringify(await sampleEvent('get-debit-request'))
    const read = await invoke(
      'get-debit-request',
      JSON.parse(event.replaceAll('DCS-20261121-ABC123', reference)),
    )
    expect(bodyOf(read.reply).data.reference).toBe(reference)
  })
})

describe('the Invoke API', () => {
  test('replies 404 for an unknown function and 400 for an event that is not JSON', async () => {
    const unknown = await invoke('nobody', {})
    expect(unknown.status).toBe(404)
    expect(unknown.headers.get('x-amzn-errortype')).toBe('ResourceNotFoundException')
    const response = await fetch(
      `${service.sandbox().address}/2015-03-31/functions/charge/invocations`,
      { method: 'POST', body: '{' },
    )
    expect(response.status).toBe(400)
  })

  test('replies 200 with the error header for a function that throws', async () => {
    const { status, headers, reply } = await invoke('relay', null)
    expect(status).toBe(200)
    expect(headers.get('x-amz-function-error')).toBe('Unhandled')
    expect(reply).toMatchObject({ errorType: expect.any(String), errorMessage: expect.any(String) })
  })
})

// The resolver rejects a label of 64 letters without a network request.
const NOWHERE = `https://${'x'.repeat(64)}.test/`

describe('operator verbs', () => {
  const errors: [string, string, Record<string, string>, string][] = [
    ['provider', 'destroy', {}, 'unknown verb'],
    ['provider', 'show', {}, '--provider: is required'],
    ['provider', 'show', { provider: 'nobody' }, 'no such provider'],
    ['provider', 'show', { provider: 'demo', colour: 'red' }, '--colour: is not an option'],
    ['provider', 'create', { provider: 'demo', name: 'Again' }, 'already exists'],
    ['provider', 'update', { provider: 'demo', 'daily-limit': '5' }, '--daily-limit: '],
    ['provider', 'update', { provider: 'demo', 'allow-list': '10.0.0.0/33' }, '--allow-list: '],
    ['credential', 'issue', {}, 'either --provider or --bank is required'],
    ['credential', 'issue', { bank: 'XXX' }, 'no such bank'],
    ['webhook', 'set', { provider: 'demo', url: 'http://example.com/' }, '--url: must use https'],
    ['webhook', 'set', { provider: 'demo', url: 'https://u:p@example.com/' }, '--url: must not'],
    ['webhook', 'set', { provider: 'demo', url: 'https://10.0.0.1/' }, '--url: must not name'],
    ['webhook', 'set', { provider: 'demo', url: NOWHERE }, '--url: does not resolve'],
    ['webhook', 'set', { provider: 'demo', url: 'https://x.test/', timeout: '9' }, '--timeout: '],
    ['webhook', 'set', { provider: 'demo', url: 'https://x.test/', events: 'a' }, '--events: '],
    ['webhook', 'set', { provider: 'demo', url: 'https://x.test/', payload: 'all' }, '--payload: '],
    ['webhook', 'rotate-secret', { provider: 'fenced' }, 'this provider has no webhook'],
    ['webhook', 'rotate-secret', { provider: 'demo', 'grace-seconds': '604801' }, '604800'],
    ['webhook', 'show', { provider: 'fenced' }, 'this provider has no webhook'],
    ['webhook', 'remove', { provider: 'fenced' }, 'this provider has no webhook'],
    ['debit', 'show', { reference: 'x' }, '--reference: '],
  ]

  test.each(errors)('refuse %s %s %o in one line', async (noun, verb, options, line) => {
    const reply = await service.operate(noun, verb, options)
    expect((reply as { error: string }).error).toContain(line)
    expect((reply as { error: string }).error).not.toContain('\n')
  })

  test('keep the secret and the settings of a webhook until they are changed', async () => {
    const set = async (options: Record<string, string>) =>
      (
        (await service.operate('webhook', 'set', { provider: 'other', ...options })) as {
          result: Record<string, unknown>
        }
      ).result
    const first = await set({ url: 'http://127.0.0.1:4242/x', 'max-attempts': '3', timeout: '15' })
    const second = await set({ url: 'http://127.0.0.1:4243/y', events: 'transaction.failed' })
    expect(second).toEqual({
      url: 'http://127.0.0.1:4243/y',
      secret: first.secret,
      events: ['transaction.failed'],
      max_attempts: 3,
      timeout: 15,
      connection_timeout: 10,
      signature_prefix: 'none',
      payload: 'full',
      event_names: 'transaction',
      previous_until: null,
    })
    expect(
      await set({ url: 'http://127.0.0.1:4243/y', events: 'none', 'max-attempts': 'none' }),
    ).toMatchObject({ events: null, max_attempts: null })
  })
})
