import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Entry, StoredObject } from '../../sandbox/aws/journal.ts'
import type { Item } from '../../sandbox/aws/table/change.ts'
import { newFolder } from './folders.ts'
import { createPayee } from './payee.ts'
import { SILENT } from './requests.ts'
import { useService } from './running-service.ts'
import { keyOf } from './table-exports.ts'

/** The items and the objects of a sandbox at a time. */
export type Books = { items: Item[]; objects: Map<string, StoredObject>; at: Date }

/** Starts a sandbox for the tests of a file, whose clock a test moves over nights with debits of each kind. */
export const useRecordedBooks = () => {
  const data = newFolder()
  const service = useService({ data })
  const move = async (command: object) => {
    const init = { method: 'POST', body: JSON.stringify(command) }
    const response = await fetch(`${service.sandbox().address}/sandbox/clock`, init)
    expect(response.status).toBe(200)
  }
  const read = (): Books => {
    const items = new Map<string, Item>()
    const objects = new Map<string, StoredObject>()
    const lines = readFileSync(join(data, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean)
    for (const entry of lines.map((line) => JSON.parse(line) as Entry)) {
      if ('item' in entry) items.set(keyOf(entry.item), entry.item)
      if ('object' in entry) objects.set(entry.object.key, entry.object)
      for (const { before, after } of 'changes' in entry ? entry.changes : []) {
        if (after) items.set(keyOf(after), after)
        else items.delete(keyOf(before as Item))
      }
    }
    return { items: [...items.values()], objects, at: service.sandbox().control.clock.now() }
  }
  return {
    /**
     * Makes debits that complete, one of which is reversed after a night, and one that fails before its
     * completion is reported.
     * @returns their references, and the books on the first day and after each of two nights
     */
    record: async () => {
      const payee = await createPayee(service, 'exported')
      const [first = '', second = ''] = await payee.complete('100.00', '50.00', '1.00')
      const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
      await service.report(uuid, { status: 'failed', bank_reference: 'B-0', error_message: 'No' })
      await service.report(uuid, { status: 'completed', bank_reference: 'B-1' })
      await move({ freeze: true })
      const full = read()
      await move({ advance: '30h' })
      await payee.reverse(second)
      const night = read()
      await move({ advance: '24h' })
      return { debits: [first, second, reference], full, night, last: read() }
    },
  }
}
