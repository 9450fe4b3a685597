import type { Bank } from '../domain/banks/bank.ts'
import type { Cause, Debit } from '../domain/debits/debit.ts'
import { isUnprompted, refusePrompt } from '../domain/debits/prompts.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import { environment, type Runtime } from '../runtime.ts'
import { hasTooManyPrompts } from '../store/debits/prompts.ts'
import { transition } from '../store/debits/transitions.ts'

/**
 * Fails a debit whose customer has had too many approval prompts (docs/api.md#approval-prompts).
 * An unreadable index refuses no debit.
 * @returns whether the debit must not be submitted
 */
export const refuseTooManyPrompts = async (
  debit: Debit,
  { openPromptsMax = environment.openPromptsMax }: Bank,
  cause: Omit<Cause, 'by'>,
  runtime: Runtime,
): Promise<boolean> => {
  if (openPromptsMax === undefined) return false
  const { reference, provider, bank } = debit.facts
  const ids = { reference, provider, bank: bank.identifier }
  try {
    if (!(await hasTooManyPrompts(debit, openPromptsMax))) return false
  } catch (error) {
    log.warn('prompts are not counted', { ...ids, error: error as Error }, { PromptsUnchecked: 1 })
    return false
  }
  const result = await transition(debit, (current) => refusePrompt(current, cause), runtime)
  if (result instanceof Refusal || !isUnprompted(result)) return true
  const remedy =
    `run operator debit list --provider ${provider} --status failed; then ask the provider, revoke its ` +
    `key (operator credential list --provider ${provider}) or run operator provider disable --provider ${provider}`
  log.warn('too many prompts', { ...ids, remedy }, { PromptsRefused: 1 })
  return true
}
