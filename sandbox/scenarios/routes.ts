import * as v from 'valibot'
import type { ScenarioSummary } from '../../console/server/backend.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { parseInput } from '../../shared/domain/validation.ts'
import type { Control } from '../control/control.ts'
import { scenarios } from './catalogue.ts'
import { ScenarioRefusal } from './play.ts'

/** GET /sandbox/scenarios and POST /sandbox/scenarios/NAME (docs/testing.md#scenarios). */

export const listScenarios = (): ScenarioSummary[] =>
  scenarios.map(({ name, description }) => ({ name, description }))

const Request = v.strictObject({ reference: v.optional(v.string('must be a string')) })

export const playScenario = async (
  control: Control,
  body: Record<string, unknown> | undefined,
  { name }: Record<string, string>,
) => {
  const scenario = scenarios.find((one) => one.name === name)
  if (!scenario) return new Refusal(1404)
  const request = parseInput(Request, body ?? {})
  if (request instanceof Refusal) return request
  try {
    return await scenario.play(control, request.reference)
  } catch (error) {
    if (error instanceof ScenarioRefusal) return error.refusal
    throw error
  }
}
