import { readReference } from '../domain/ids.ts'
import type { Access } from '../domain/operator/access.ts'
import type { Runtime } from '../runtime.ts'
import { findDebits } from '../store/debits/debits.ts'
import { putAccesses } from '../store/operator/accesses.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'

/** Records of reads (docs/compliance.md#personal-data). */

type ShownObject = { reference?: unknown; options?: { phone?: unknown } | undefined }

const rowsIn = (result: unknown): ShownObject[] =>
  [result].flat().filter((row): row is ShownObject => typeof row === 'object' && row !== null)

type Named = { phone?: unknown; reference?: unknown }

/** Returns the numbers that a call names, those in requests, and those of the debits in call and result. */
const phonesIn = async (call: Named, result: unknown): Promise<string[]> => {
  const rows: (ShownObject & Named)[] = [call, ...rowsIn(result)]
  const references = rows.flatMap(({ reference }) =>
    typeof reference === 'string' ? (readReference(reference) ?? []) : [],
  )
  const debits = references.length > 0 ? await findDebits(references, () => undefined) : new Map()
  const named = [call.phone, ...rows.map(({ options }) => options?.phone)]
  const charged = [...debits.values()].map(({ facts }) => facts.phone)
  return [...new Set([...named, ...charged])].filter((one) => typeof one === 'string')
}

/** Records that an operator reads the data of each customer in a result, before it is returned. */
export const recordAccess = async (
  options: unknown,
  result: unknown,
  { at, by, noun, verb }: Access,
  runtime: Runtime,
): Promise<void> => {
  const phones = await phonesIn(options as Named, result)
  if (phones.length === 0) return
  const hash = await customerHasher(runtime)
  await putAccesses(phones.map(hash), { at, by, noun, verb })
}
