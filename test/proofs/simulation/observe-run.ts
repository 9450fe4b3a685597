import '../../../proofs/simulation/platform/register.ts'
import { serialize } from 'node:v8'
import type { Scenario } from '../../../proofs/simulation/scenario/scenario.ts'

/**
 * Runs one scenario without faults and writes its observations to stdout: debits that complete,
 * fail, time out and are reversed, an exception of each kind, a receiver that fails once, a remittance,
 * two nights of settlement, and a number with and one without an account at its bank. A
 * debit is requested, then reversed.
 */

await import('../../../proofs/simulation/aws/environment.ts')
const { runScenario } = await import('../../../proofs/simulation/run.ts')
const { night, scenarioOf } = await import('../../../proofs/simulation/crash-points/shapes.ts')

const shape = scenarioOf({ name: '', script: {}, answers: [500] })
const [base] = shape.scripts
if (!base) throw new Error('The shape has no debit')

const report = (afterSeconds: number, status: 'completed' | 'failed', fee?: string) => ({
  afterSeconds,
  by: 'update' as const,
  status,
  ...(fee ? { fee } : {}),
})

const scripts = [
  {
    amount: '43.00',
    reports: [report(5, 'completed'), report(9, 'completed')],
    calls: [{ afterSeconds: 20, name: 'get-debit-request' as const }],
  },
  { reports: [report(5, 'completed', '0.75')], reversed: night(1) + 7_200 },
  { reports: [report(5, 'failed'), report(9, 'completed')] },
  { reports: [] },
  {
    at: base.at + 86_400_000,
    reports: [
      { afterSeconds: 3, by: 'callback' as const, status: 'approved' as const },
      report(5, 'completed'),
    ],
  },
  { provider: 1, amount: '1500.01' },
  {
    reports: [
      { ...report(3, 'completed'), flaw: 'a list' as const },
      report(5, 'completed'),
      report(40, 'failed'),
    ],
    requested: 20,
    reversed: 30,
  },
  { phone: '+233242222222' },
  { phone: '+233243333333' },
].map((script, index) => ({ ...base, ...script, number: 5 * index }))
const [settled] = scripts
if (settled) Object.assign(settled, { repeated: 0 })

/** The second payment of a bank is the refund of the debit that is reversed after its settlement. */
const payments: Scenario['payments'] = ['paid', 'rejected']
const options = { bank: 'HBA', amount: '500.00', reference: 'R-1', date: '2026-11-20' }
const remittance = { at: base.at + 3_600_000, verb: 'funding record' as never, options }
const { observations } = await runScenario({
  ...shape,
  ...{
    scripts,
    payments,
    providers: [0, 1],
    changes: [remittance],
    lookups: ['HBA'],
    erases: true,
  },
})
// Separate copies: a change to one image must not change the others.
process.stdout.write(
  serialize({
    ...observations,
    items: structuredClone(observations.items),
    erasures: observations.erasures.map((erasure) => structuredClone(erasure)),
    changes: observations.changes.map((change) => structuredClone(change)),
  }),
)
