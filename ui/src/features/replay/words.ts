import type { RequestKind } from '$host/bindings';

/** What each part of a request is, as in the meter. */
export const SECTIONS: Record<string, string> = {
  system: 'Rules and instructions',
  tools: 'Tools',
  index: 'Index',
  pinned: 'Pinned',
  summary: 'Summary',
  conversation: 'Conversation',
  tail: 'Tail',
};

export const REQUESTS: Record<RequestKind, string> = {
  step: 'Request of a step',
  judge: 'A judge is asked about a criterion',
  summary: 'A model sums up the older part',
};

/** Why a model stopped. */
export const STOPS: Record<string, string> = {
  end: 'It had said what it wanted to say',
  tool_use: 'It asks for actions',
  length: 'It reached the most that it may say',
  refused: 'It refused',
  other: 'It stopped for another reason',
};
