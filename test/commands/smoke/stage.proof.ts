import { afterAll, expect, onTestFinished, test } from 'vitest'
import { runScript } from '../../support/commands.ts'
import { startSandbox } from './running-sandbox.ts'
import { healthy, startStageEndpoint } from './stage-endpoint.ts'

const sandbox = await startSandbox('--time-scale', '10')
afterAll(sandbox.stop)

const smoke = async (
  state: Partial<Parameters<typeof startStageEndpoint>[1]>,
  { address } = sandbox,
  ...options: string[]
) => {
  const { env, stop } = await startStageEndpoint(address, { ...healthy, ...state })
  onTestFinished(stop)
  // The workflow installs without scripts, so neither npm run nor the Node of the packages works.
  const words = ['commands/smoke.ts', '--stage', 'sandbox', ...options]
  const { code, stdout } = await runScript(words, { ...env, PATH: '' })
  const lines = stdout.trimEnd().split('\n')
  const isGood = (line: string) => /^(?:ok|version) /.test(line)
  const passed = lines.filter(isGood).map((line) => line.replace('ok ', ''))
  return { code, passed, others: lines.filter((line) => !isGood(line)) }
}

test('the smoke test of a stage prints its version, finds the API and checks events, sweep, queues and logs', async () => {
  const { code, passed, others } = await smoke({})
  expect({ code, others }).toEqual({
    code: 0,
    others: [expect.stringMatching(/^[4-9][0-9] checks hold$/)],
  })
  const first = ['event-sources', 'version 0.1.0', 'api-address', 'objects']
  expect(passed.slice(0, 4)).toEqual(first)
  expect(passed.slice(-4)).toEqual(['reconcile', 'dead-letters', 'logs', 'cleanup'])
  expect(passed).toEqual(
    expect.arrayContaining([
      'alarm-subscriptions',
      'sweep',
      'events-of-completed-debit',
      'redelivery',
      'payout',
    ]),
  )
  // Without a receiver no webhook arrives.
  expect(passed).not.toContain('webhooks-of-completed-debit')
  // A test that is killed cannot revoke them.
  const providers: { id: string }[] = await sandbox.operator('provider', 'list')
  const ids = providers.map(({ id }) => id).filter((id) => id.startsWith('smoke-'))
  expect(ids).toHaveLength(2)
  for (const id of ids) {
    const words = ['credential', 'list', '--provider', id]
    const [{ created_at, expires_on }] = await sandbox.operator(...words)
    expect(Date.parse(expires_on) - Date.parse(created_at)).toBeLessThanOrEqual(3_600_000)
  }
}, 240_000)

test('the smoke test of a stage names an unconfirmed subscription of its alarms, and goes on', async () => {
  const { code, passed, others } = await smoke({ pending: 1 })
  expect(others).toEqual([
    'FAIL alarm-subscriptions: expected 1 confirmed subscriptions of alarms, got 0 confirmed, 1 in PendingConfirmation',
    expect.stringMatching(/^1 of [4-9][0-9] checks failed$/),
  ])
  expect(code).toBe(1)
  expect(passed).toEqual(expect.arrayContaining(['sweep', 'payout', 'logs', 'cleanup']))
}, 240_000)

test.each([
  [
    true,
    [
      'FAIL alarm-subscriptions: expected subscriptions of alarms, got none: set alarmsTo of the stage',
    ],
  ],
  [false, []],
])(
  'the smoke test of a stage without subscriptions, which keeps data: %s, has the failures %j',
  async (keepsData, failures) => {
    const { others } = await smoke({ unsubscribed: { keepsData } })
    expect(others).toEqual([...failures, expect.stringMatching(/^(?:1 of )?[4-9][0-9] checks /)])
  },
  240_000,
)

test('the smoke test of a stage names dead letters and faults in logs', async () => {
  const rejected = '{"level":"ERROR","message":"bank report rejected"}'
  const denied = '{"level":"ERROR","message":"fault","error":{"name":"AccessDeniedException"}}'
  const { code, others } = await smoke({ deadLetters: 2, lines: [rejected, denied] })
  expect(others).toEqual([
    'FAIL dead-letters: expected empty dead-letter queues, ' +
      'got 2 in sweeps-dead-letters, 2 in relay-lost-records',
    expect.stringMatching(/^FAIL logs: expected no fault in a log, got [a-z-]+: .*AccessDenied/),
    expect.stringMatching(/^2 of [4-9][0-9] checks failed$/),
  ])
  expect(code).toBe(1)
}, 240_000)

test('the smoke test of a stage with approvals passes for the role that deploys production, and requests none', async () => {
  const guarded = await startSandbox('--approvals')
  onTestFinished(guarded.stop)
  const denied = ['approval', 'debit', 'exception', 'settlement'].map((noun) => `manage-${noun}`)
  const { code, passed, others } = await smoke({ denied }, guarded)
  expect({ code, others }).toEqual({
    code: 0,
    others: [expect.stringMatching(/^[12][0-9] checks hold$/)],
  })
  expect(passed).toEqual(expect.arrayContaining(['bank-without-connector', 'signature', 'cleanup']))
  expect(await guarded.operator('approval', 'list')).toEqual([])
}, 240_000)

test.each([
  ['event-sources', 'Disabled', []],
  ['unpaused', 'Disabled', ['--unpaused']],
  ['unpaused', 'waiting', ['--unpaused']],
] as const)(
  'the smoke test creates nothing in a paused stage, and says so as %s while the sources are %s',
  async (name, eventSources, options) => {
    expect(await smoke({ eventSources }, sandbox, ...options)).toEqual({
      code: 1,
      passed: [],
      others: [
        `FAIL ${name}: expected Enabled, got Disabled everywhere: the stage is paused`,
        '1 of 1 checks failed',
      ],
    })
  },
  60_000,
)

test.each(['Enabled', 'none'] as const)(
  'a release may deploy a stage whose event sources are %s',
  async (eventSources) => {
    const holding = { code: 0, passed: ['unpaused'], others: ['1 checks hold'] }
    expect(await smoke({ eventSources }, sandbox, '--unpaused')).toEqual(holding)
  },
  60_000,
)
