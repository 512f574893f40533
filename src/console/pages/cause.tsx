/** One cause: its card, and all its actions. */

import type { z } from 'zod';
import type { wholeCauseResponse } from '../../contract/causes.js';
import { pageOf, path } from '../addresses.js';
import { useBulk } from '../bulk.js';
import { CauseCard } from '../cause.js';
import { PageOf } from '../frame.js';
import { usePages } from '../resource.js';
import { useCompany } from '../session.js';
import { Badge, Table, Time } from '../ui/index.js';

export function CausePage({ causeId }: { causeId: string }) {
  const { companyId } = useCompany();
  const [cause] = usePages<z.infer<typeof wholeCauseResponse>>(path`/co/${companyId}/causes/${causeId}`);
  const [askAll, dialog] = useBulk(cause.refresh);
  return (
    <PageOf title="Problem" of={cause}>
      {(known) => (
        <>
          <CauseCard cause={known} isOpen onAsk={askAll} onDone={cause.refresh} />
          <Table caption="The actions with this problem" columns={['Action', 'Assignment', 'Since', 'Fails at / solved at']}>
            {known.items.map(({ chainId, index, assignmentId, since, heldUntil, endedAt }) => (
              <tr key={`${chainId} ${index}`}>
                <td>
                  <a href={pageOf.chain(companyId, chainId)}>
                    Action {index} of chain {chainId.slice(0, 8)}
                  </a>
                </td>
                <td>{assignmentId && <a href={pageOf.assignment(companyId, assignmentId)}>{assignmentId}</a>}</td>
                <td>
                  <Time at={since} />
                </td>
                <td>
                  {endedAt && <Badge tone="quiet">solved</Badge>} <Time at={endedAt ?? heldUntil} />
                </td>
              </tr>
            ))}
          </Table>
          {dialog}
        </>
      )}
    </PageOf>
  );
}
