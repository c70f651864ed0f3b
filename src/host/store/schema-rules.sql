-- The last part of the schema: what no statement may do, whatever the program thinks.

CREATE TRIGGER events_have_no_gap BEFORE INSERT ON events
WHEN NEW.revision <> 1 + (SELECT coalesce(max(revision), 0) FROM events WHERE run_id = NEW.run_id)
BEGIN SELECT RAISE (ABORT, 'events of a run are numbered without gaps'); END;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'events are immutable'); END;

CREATE TRIGGER events_go_only_by_prune BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM pruned_runs WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE (ABORT, 'events are deleted by prune only'); END;

CREATE TRIGGER runs_stay_terminal BEFORE UPDATE OF status ON runs
WHEN OLD.status IN ('completed', 'failed', 'timed_out', 'cancelled') AND NEW.status <> OLD.status
BEGIN SELECT RAISE (ABORT, 'a terminal run stays terminal'); END;

CREATE TRIGGER runs_grow_only BEFORE UPDATE ON runs
WHEN NEW.revision < OLD.revision OR NEW.generation < OLD.generation OR NEW.boundary < OLD.boundary
BEGIN SELECT RAISE (ABORT, 'revision, generation and boundary never shrink'); END;

CREATE TRIGGER attempts_stay_closed BEFORE UPDATE OF status ON attempts
WHEN OLD.finished_at IS NOT NULL AND NEW.status <> OLD.status
BEGIN SELECT RAISE (ABORT, 'a closed attempt stays closed'); END;

CREATE TRIGGER runs_end_clean BEFORE UPDATE OF status ON runs
WHEN NEW.status IN ('completed', 'failed', 'timed_out', 'cancelled') AND OLD.status <> NEW.status
  AND (EXISTS (SELECT 1 FROM claims WHERE run_id = NEW.run_id AND released = 0)
    OR EXISTS (SELECT 1 FROM attempts WHERE run_id = NEW.run_id AND status IN ('running', 'waiting'))
    OR EXISTS (SELECT 1 FROM interactions
      WHERE run_id = NEW.run_id AND status IN ('pending', 'validating'))
    OR EXISTS (SELECT 1 FROM submissions WHERE run_id = NEW.run_id AND status = 'validating')
    OR EXISTS (SELECT 1 FROM messages WHERE run_id = NEW.run_id
      AND kind IN ('step', 'human_decision') AND status IN ('pending', 'offered'))
    OR EXISTS (SELECT 1 FROM timers WHERE run_id = NEW.run_id AND status = 'pending')
    OR EXISTS (SELECT 1 FROM effects WHERE run_id = NEW.run_id AND status IN ('pending', 'applying')))
BEGIN SELECT RAISE (ABORT, 'a terminal run leaves nothing open'); END;

CREATE TRIGGER messages_stay_closed BEFORE UPDATE OF status ON messages
WHEN OLD.status IN ('cancelled', 'superseded') AND NEW.status <> OLD.status
BEGIN SELECT RAISE (ABORT, 'a message that was given up stays so'); END;

CREATE TRIGGER turns_stay_closed BEFORE UPDATE OF status ON turns
WHEN OLD.status <> 'open' AND NEW.status <> OLD.status
BEGIN SELECT RAISE (ABORT, 'a closed turn stays closed'); END;

CREATE TRIGGER submissions_stay_closed BEFORE UPDATE OF status ON submissions
WHEN OLD.status <> 'validating' AND NEW.status <> OLD.status
BEGIN SELECT RAISE (ABORT, 'a settled submission stays settled'); END;
