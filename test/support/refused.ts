import { Refusal } from '../../shared/domain/refusal.ts'

/** `422/1007` and the details of what must be a refusal. */
export const refused = (result: unknown): { code: string; details: unknown } => {
  if (!(result instanceof Refusal)) throw new Error(`Not refused: ${JSON.stringify(result)}`)
  return { code: `${result.http}/${result.error.code}`, details: result.details }
}

/** The value of what must not be a refusal. */
export const granted = <T>(result: T | Refusal): T => {
  if (result instanceof Refusal) throw new Error(`Refused: ${JSON.stringify(result)}`)
  return result
}
