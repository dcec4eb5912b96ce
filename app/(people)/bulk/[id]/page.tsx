import { BulkRun } from '#components/bulk/bulk-run'
import { gate } from '../../../gate'

export const metadata = { title: 'Bulk run' }

export default async function BulkRunPage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  await gate(`/bulk/${id}`)
  return <BulkRun id={id} />
}
