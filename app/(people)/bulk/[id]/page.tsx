import { BulkRun } from '#components/bulk/bulk-run'
import { gate } from '../../../gate'

export const metadata = { title: 'Bulk run' }

export default async function BulkRunPage({ params }: { params: Promise<{ id: string }> }) {
  await gate(`/bulk/${(await params).id}`)
  return <BulkRun id={(await params).id} />
}
