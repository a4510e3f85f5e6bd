// A lock as a state machine whose moves are checked by types.
type State = { kind: "open" } | { kind: "closed"; tries: number } | { kind: "blocked"; until: number };
type Action = { type: "close" } | { type: "enter"; code: string } | { type: "wait"; steps: number };

const CODE: string = "1234";

function step(state: State, action: Action): State {
  switch (`${state.kind}/${action.type}` as `${State["kind"]}/${Action["type"]}`) {
    case "open/close":
      return { kind: "closed", tries: 0 };
    case "closed/enter": {
      const { tries } = state as Extract<State, { kind: "closed" }>;
      if ((action as Extract<Action, { type: "enter" }>).code === CODE) return { kind: "open" };
      return tries === 1 ? { kind: "blocked", until: 2 } : { kind: "closed", tries: tries + 1 };
    }
    case "blocked/wait": {
      const until = (state as { until: number }).until - (action as { steps: number }).steps;
      return until > 0 ? { kind: "blocked", until } : { kind: "closed", tries: 0 };
    }
    default:
      return state;
  }
}

const actions: Action[] = [
  { type: "close" },
  { type: "enter", code: "1" },
  { type: "enter", code: "2" },
  { type: "enter", code: CODE },
  { type: "wait", steps: 1 },
  { type: "wait", steps: 1 },
  { type: "enter", code: CODE },
];
let state: State = { kind: "open" };
for (const action of actions) {
  state = step(state, action);
  console.log(action.type.padEnd(5), JSON.stringify(state));
}
