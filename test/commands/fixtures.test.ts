import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { applySteps } from '../../commands/fixtures/apply.ts'
import { parseSteps } from '../../commands/fixtures/steps.ts'
import { scenarios } from '../../sandbox/scenarios/catalogue.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { useReceiver } from '../support/receiver.ts'
import { testInProcess, useService } from '../support/running-service.ts'

/** Fixture files (docs/testing.md#fixtures). */

const service = useService()
const receiver = useReceiver()

const apply = async (file: string): Promise<string[]> => {
  const lines: string[] = []
  const port = Number(new URL(service.sandbox().address).port)
  await applySteps(parseSteps(file), port, (line) => lines.push(line))
  return lines
}

test('the file of a shop creates a provider with debits and a paid settlement', async () => {
  const file = readFileSync('docs/fixtures/shop.yaml', 'utf8')
  expect(file).toContain('http://127.0.0.1:4242/webhooks')
  const lines = await apply(file.replace('http://127.0.0.1:4242/webhooks', receiver.url()))
  expect(lines[0]).toBe('1 operator provider create: done')
  expect(lines[6]).toBe('7 POST /api/v1/payment-providers/debit-requests/charge: 202')
  const batches = await service.call('settlement', 'list', { provider: 'shop' })
  expect(batches).toMatchObject([{ status: 'completed', debits: 2, gross: '149.50' }])
  const failed = await service.call('debit', 'list', { provider: 'shop', status: 'failed' })
  expect(failed).toMatchObject([{ error_code: 'insufficient_funds', amount: '6000.00' }])
  expect(receiver.received.length).toBeGreaterThan(9)
})

testInProcess(
  'the steps of a sandbox with approvals are granted by a second operator',
  async () => {
    vi.stubEnv('APPROVALS', 'true')
    const lines = await apply(`
- operator: provider create
  options: { provider: approved, name: Approved, settlement-bank: GCB, settlement-account: "1041005001", settlement-name: A }
  save: provider
- operator: credential issue
  options: { bank: "\${provider.settlement_account.bank}", token: bt_sandbox_granted }
`)
    expect(lines.map((line) => line.split(': ').at(-1))).toEqual(['done', 'done'])
    const requests = await service.call('approval', 'list')
    expect(requests).toMatchObject([{ decided_by: 'local:fixtures' }, { status: 'granted' }])
  },
)

test('a step refers to members of earlier responses, with their types and inside texts', async () => {
  const lines = await apply(`
- scenario: completed
  save: play
- scenario: reversed-and-refunded
  reference: \${play.data.reference}
- operator: debit show
  options: { reference: "\${play.data.reference}" }
  save: debit
- call: GET /api/v1/payment-providers/debit-requests/\${debit.reference}
  as: sk_sandbox_demo
  expect: 200
- call: POST /api/v1/payment-providers/debit-requests/charge
  as: sk_sandbox_demo
  body: { metadata: "\${debit.history.0}", narration: "\${debit.status} \${debit.amount}" }
  expect: 422
`)
  expect(lines.map((line) => line.split(': ').at(-1))).toEqual(['200', '200', 'done', '200', '422'])
})

test.each([
  ['call: GET /x', 'step 1: GET /x: 404: Resource not found (1404)'],
  ['call: GET /x\n  expect: 200', 'step 1: GET /x: 404, not 200: Resource not found (1404)'],
  ['operator: bank show\n  options: { bank: XXX }', 'step 1: operator bank show: no such bank'],
  ['scenario: unknown', 'step 1: scenario unknown: 404: Resource not found (1404)'],
  [
    'clock: { advance: soon }',
    'step 1: clock {"advance":"soon"}: 422: Validation failed (1007): advance must be a duration',
  ],
  [
    `operator: bank show\n  options: { bank: GCB }\n  save: gcb\n- call: GET /\${gcb.nothing}`,
    'gcb.nothing}: the response has no gcb.nothing',
  ],
])('a failure names its step: %j', async (step, message) => {
  await expect(apply(`- ${step}`)).rejects.toThrow(message)
})

test('each scenario and each verb is a step', () => {
  const verbs = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
    Object.keys(verbs).map((verb) => `${noun} ${verb}`),
  )
  const steps = [
    ...scenarios.map(({ name }) => `- scenario: ${name}`),
    ...verbs.map((operator) => `- operator: ${operator}\n  options: { x: "\${s}" }`),
  ]
  const saving = '- scenario: completed\n  save: s\n'
  expect(parseSteps(saving + steps.join('\n'))).toHaveLength(steps.length + 1)
})

test('a body keeps its numbers, also below a member with the name options', () => {
  const [step] = parseSteps('- call: POST /x\n  body: { metadata: { options: { price: 1.50 } } }')
  expect(step).toMatchObject({ body: { metadata: { options: { price: 1.5 } } } })
})

test.each([
  ['a: [', 'at line 1, column 5'],
  ['{}', 'must be a list of steps'],
  ['[]', 'has no step'],
  ['- call: GET /\n- 5', 'step 2: must have one of call, operator, clock, scenario'],
  ['- call: GET /\n  scenario: completed', 'step 1: must have one of call'],
  ['- call: /x', 'step 1: call: must be like GET /api/v1/...'],
  ['- call: GET /\n  exspect: 200', 'step 1: exspect: is unknown in this step'],
  ['- operator: bank lst', 'step 1: operator: unknown verb bank lst'],
  ['- operator: bank show', 'step 1: --bank: is required'],
  ['- operator: bank show\n  options: { bank: 1.5 }', 'step 1: options.bank: must be text'],
  ['- operator: bank show\n  options: { bank: 0041001001 }', 'step 1: options.bank: must be text'],
  [
    '- operator: bank show\n  options: { bank: 12345678901234567890 }',
    'options.bank: must be text',
  ],
  ['- clock: 6m', 'step 1: clock: must be like {advance: 6m}'],
  [`- call: GET /\${order.id}`, 'order.id}: no earlier step saves it'],
])('a malformed file is refused before the first call: %j', (file, message) => {
  expect(() => parseSteps(file)).toThrow(message)
})
