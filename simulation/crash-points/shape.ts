import type { Losses } from '../engine/faults.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { DebitScript, ScriptedReport } from '../scenario/script.ts'

export type Shape = {
  name: string
  script: Partial<DebitScript>
  answers?: readonly number[]
  payments?: Scenario['payments']
  losses?: Losses
}

export const completed = (
  afterSeconds = 5,
  more: Partial<ScriptedReport> = {},
): ScriptedReport => ({
  afterSeconds,
  by: 'update',
  status: 'completed',
  ...more,
})
export const failed = (afterSeconds = 5): ScriptedReport => ({
  afterSeconds,
  by: 'update',
  status: 'failed',
})
export const approved = (afterSeconds = 5): ScriptedReport => ({
  afterSeconds,
  by: 'callback',
  status: 'approved',
})
